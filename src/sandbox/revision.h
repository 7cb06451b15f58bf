#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "base/error.h"
#include "net/http_message.h"
#include "sandbox/kinds.h"

namespace berth::sandbox {

// Who an object belongs to: an entry of its ownerReferences.
struct Owner {
  std::string uid;
  bool is_controller = false;
};

class Revision;
using RevisionPtr = std::shared_ptr<const Revision>;

// One object as it was after one write. Immutable.
//
// What is kept is the protobuf encoding, the smallest form that loses nothing, plus what lists and watches
// select by. JSON is made when it is first asked for and kept, so that lists and watch events are served from
// finished bytes; Document() is made anew for each caller, who then owns it.
class Revision {
 public:
  // `document` is a whole object of the resource, with its metadata.resourceVersion. Fails if a field is of
  // the wrong type.
  static base::Result<RevisionPtr> Make(const Resource& resource, const boost::json::object& document);

  const Resource& resource() const { return resource_; }
  // "namespace/name", or the name alone: the order of lists.
  const std::string& key() const { return key_; }
  std::string_view namespace_name() const {
    return resource_.namespaced ? std::string_view(key_).substr(0, key_.size() - name_size_ - 1)
                                : std::string_view();
  }
  std::string_view name() const { return std::string_view(key_).substr(key_.size() - name_size_); }
  const std::string& uid() const { return uid_; }
  std::uint64_t version() const { return version_; }
  const api::StringMap& labels() const { return labels_; }
  const std::vector<Owner>& owners() const { return owners_; }
  // The uid of the owner that manages it; empty if there is none.
  std::string_view controller_uid() const;
  // Its deletion has begun.
  bool is_terminating() const { return is_terminating_; }
  // The value of resource().fields[index].
  std::string_view field(std::size_t index) const { return fields_[index]; }

  // The message without envelope.
  const std::string& protobuf() const { return protobuf_; }
  // The whole object as text, beginning with resource().json_head.
  const net::Buffer& json() const;
  boost::json::object Document() const;

  // The same object under another resourceVersion.
  RevisionPtr WithVersion(std::uint64_t version) const;

  // A revision that was superseded is rarely read again: gives up the kept JSON.
  void DropText() const { json_.reset(); }

 private:
  explicit Revision(const Resource& resource) : resource_(resource) {}

  const Resource& resource_;
  std::string key_;
  std::size_t name_size_ = 0;
  std::string uid_;
  std::uint64_t version_ = 0;
  api::StringMap labels_;
  std::vector<Owner> owners_;
  bool is_terminating_ = false;
  std::vector<std::string> fields_;
  std::string protobuf_;
  mutable net::Buffer json_;  // one thread owns the store
};

std::string ObjectKey(const Resource& resource, std::string_view namespace_name, std::string_view name);

// The digits of a resourceVersion; nothing if it is none.
std::optional<std::uint64_t> ParseVersion(std::string_view text);

// The document as the API would print it: fields that the kind does not have are gone, quantities and times
// are in their canonical form. Fails if a field is of the wrong type.
base::Result<boost::json::object> Normalize(const Resource& resource, const boost::json::object& document);

}  // namespace berth::sandbox
