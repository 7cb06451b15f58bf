#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/load_clock.h"
#include "bench/object_template.h"
#include "bench/operations.h"
#include "bench/test_cluster.h"

namespace berth::bench {

// Creates the pods of one operation, with the volume that each may want.
class PodMaker {
 public:
  // Reads the templates. `default_template` is the test case's, for pods that name none.
  static base::Result<PodMaker> Make(const CreatePods& op, const std::filesystem::path& folder,
                                     const std::string& default_template);

  // What makes the pod of this index among `count`, to be written in this order; waits for the turn of each.
  base::Result<std::vector<Write>> Writes(LoadClock& clock, const std::string& namespace_name,
                                          std::int64_t index, std::int64_t count) const;
  // Keeps the first error of several pods. A pod that exists already is none.
  static WriteCallback KeepFirst(std::shared_ptr<base::Result<void>> failed);

 private:
  base::Result<boost::json::object> Pod(std::int64_t index, std::int64_t count) const;
  // Binds a claim and a volume to each other as if a controller had done it, and gives the pod the claim.
  base::Result<std::vector<Write>> VolumeWrites(const std::string& namespace_name, std::int64_t index,
                                                boost::json::object& pod) const;

  std::optional<ObjectTemplate> pod_;               // nothing: a plain pod
  std::string_view pod_field_ = "podTemplatePath";  // that names its template
  std::optional<ObjectTemplate> claim_;
  std::optional<ObjectTemplate> volume_;
  boost::json::object params_;
  std::int64_t signature_batch_size_ = 1;
};

// What templates are expanded with.
boost::json::object TemplateData(const boost::json::object& params, std::int64_t index,
                                 std::optional<std::int64_t> count);

// The error of a request, with what it was about. Where the server did not like the object, the field of the
// operation that it came from is named; empty: it came from none.
std::unexpected<base::Error> FailRequest(std::string_view field, std::string_view what,
                                         const sandbox::StatusError& error);

}  // namespace berth::bench
