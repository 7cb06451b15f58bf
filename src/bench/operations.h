#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "bench/params.h"

// What a workload consists of. Paths are relative to the folder of the workload file; fields that end in
// `_param` name a parameter ("$nodes") and are empty once they are resolved.
namespace berth::bench {

struct Count {
  std::optional<std::int64_t> value;
  std::string param;

  std::int64_t number(std::int64_t otherwise = 0) const { return value.value_or(otherwise); }
};

// What is said of a count that is no count, in upstream's words; `field`: "count", "signatureBatchSize".
std::string InvalidCountText(std::string_view field, const Count& count);

struct LabelNodes {
  std::string key;
  std::vector<std::string> values;  // one after another
  // Goes on in the next workload of the file, as upstream's does.
  std::shared_ptr<std::size_t> next = std::make_shared<std::size_t>(0);
};
struct LabelNodesUniquely {
  std::string key;
};
struct LimitVolumes {
  std::map<std::string, std::string> node_allocatable;
  std::map<std::string, std::int64_t> driver_counts;  // by CSI driver
  std::vector<std::string> migrated_plugins;
};
using NodeStrategy = std::variant<std::monostate, LimitVolumes, LabelNodes, LabelNodesUniquely>;

struct CreateNodes {
  Count count;
  std::string template_path;
  NodeStrategy strategy;
  boost::json::object template_params;
};
struct CreateNamespaces {
  std::string prefix;
  Count count;
  std::string template_path;
};
struct CreatePods {
  Count count;
  std::string count_multiplier_param;
  std::optional<std::string> namespace_name;
  std::string template_path;
  std::string volume_template_path;
  std::string claim_template_path;
  bool collect_metrics = false;
  bool skip_wait = false;
  bool steady_state = false;
  std::string steady_state_param;
  base::Duration duration{};
  std::string duration_param;
  boost::json::object template_params;
  Count signature_batch_size;
};
struct CreatePodSets {
  Count count;
  std::string namespace_prefix;
  CreatePods pods;
};
struct CreatePodGroups {
  std::string namespace_name;
  std::string template_path;
  Count count;
  boost::json::object template_params;
};
struct CreateResourceClaims {
  std::string namespace_name;
  std::string template_path;
  Count count;
};
struct AllocateResourceClaims {
  std::string namespace_name;
};
struct CreateAny {
  std::string template_path;
  std::string namespace_name;
  Count count;
  boost::json::object template_params;
};
struct UpdateAny {
  std::string template_path;
  std::string namespace_name;
  Count count;
  std::int64_t updates_per_second = 0;  // 0: all at once
  std::vector<std::string> subresources;
};
struct DeletePods {
  std::string namespace_name;
  std::map<std::string, std::string> labels;
  std::int64_t deletes_per_second = 0;  // 0: all at once
  bool skip_wait = false;
};
struct Churn {
  bool recreate = false;
  std::int64_t number = 0;
  std::int64_t interval_milliseconds = 500;
  std::optional<std::string> namespace_name;
  std::vector<std::string> template_paths;
};
struct Barrier {
  std::vector<std::string> namespaces;
  std::map<std::string, std::string> labels;
  bool attempted_suffices = false;
};
struct Sleep {
  base::Duration duration{};
  std::string duration_param;
};
struct StartCollectingMetrics {
  std::string name;
  std::vector<std::string> namespaces;
  std::map<std::string, std::string> labels;
};
struct StopCollectingMetrics {};
struct StartCollectingProfile {
  std::string file_path;
};
struct StopCollectingProfile {};

using Action = std::variant<CreateNodes, CreateNamespaces, CreatePods, CreatePodSets, CreatePodGroups,
                            CreateResourceClaims, AllocateResourceClaims, CreateAny, UpdateAny, DeletePods,
                            Churn, Barrier, Sleep, StartCollectingMetrics, StopCollectingMetrics,
                            StartCollectingProfile, StopCollectingProfile>;

struct Operation {
  std::string opcode;
  Action action;
  std::string place = {};  // in its file: "op 3 (createPodSets), set 2"; known once it is unrolled
};

// Reads one operation strictly. What parameters decide is checked when they are known.
base::Result<Operation> ParseOperation(const boost::json::value& value);

// The operations to run, in order: parameters replaced, each set of pods an operation of its own.
base::Result<std::vector<Operation>> Unroll(const std::vector<Operation>& operations, Params& params);

bool CollectsMetrics(const Operation& operation);

}  // namespace berth::bench
