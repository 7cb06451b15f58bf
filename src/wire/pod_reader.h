#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "api/meta.h"
#include "api/pod_record.h"
#include "base/error.h"

namespace berth::wire {

// Pods from bytes to records: the hot path of a scheduler, since pods are most of what it is sent.
//
// Ten thousand pods of one Deployment differ in a few names. The reader walks the bytes of a pod once, sets
// aside the part that the record shares with others (of the spec: what a plugin reads, without nodeName,
// claim names and the volumes that nobody reads; owners; resources of the status; types of the conditions),
// and looks those bytes up among the ones it met before. Only what is new is decoded.
//
// The result is api::MakeRecord(DecodeProtobuf<api::Pod>(bytes)), errors included. One reader per decoding
// thread.
class PodReader {
 public:
  explicit PodReader(api::SharedParts& shared);
  ~PodReader();
  PodReader(const PodReader&) = delete;
  PodReader& operator=(const PodReader&) = delete;

  // `bytes` is the bare message, without envelope.
  base::Result<api::PodRecord> Read(std::string_view bytes);
  base::Result<api::PodRecord> ReadJson(std::string_view text);

  // Whole lists, one pod at a time: `sink` gets each record as soon as it is read, in order, and those before
  // an error too. So what is in memory at once is the input and what the sink keeps.
  using Sink = std::function<void(api::PodRecord&&)>;
  base::Result<api::ListMeta> ReadList(std::string_view bytes, const Sink& sink);
  base::Result<api::ListMeta> ReadJsonList(std::string_view text, const Sink& sink);

 private:
  class Walk;
  struct Caches;

  api::SharedParts& shared_;
  std::unique_ptr<Caches> caches_;
};

}  // namespace berth::wire
