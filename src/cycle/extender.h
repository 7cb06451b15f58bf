#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod_record.h"
#include "base/error.h"
#include "cluster/cluster.h"

// Extenders: programs outside that have a say in where pods go. What is asked and answered, as plain data;
// how it travels is the business of whoever owns the connections.
namespace berth::cycle {

// One of them, as configured. An empty verb: it is not asked that.
struct ExtenderSpec {
  std::string url_prefix;
  std::string filter_verb = {};
  std::string prioritize_verb = {};
  std::string preempt_verb = {};
  std::string bind_verb = {};
  std::int64_t weight = 1;
  bool node_cache_capable = false;                  // knows the nodes by name
  bool ignorable = false;                           // its failures stop nobody
  std::vector<std::string> managed_resources = {};  // only pods that name one of them are shown; empty: all

  // In the requests or limits of some container; those of the pod as a whole do not count.
  bool IsInterestedIn(const api::PodSpec& pod) const;
};

using ExtenderCallId = std::uint64_t;

enum class ExtenderVerb : std::uint8_t { kFilter, kPrioritize, kPreempt, kBind };

struct NodeVictims {
  std::string node;
  std::vector<cluster::PodRecordRef> pods;
  std::int64_t budget_violations = 0;
};

// A question to be asked; its answer comes back as core::ExtenderFinished.
struct ExtenderCall {
  ExtenderCallId id = 0;
  std::size_t extender = 0;  // in the order of the configuration
  ExtenderVerb verb = ExtenderVerb::kFilter;
  cluster::PodRecordRef pod;
  std::vector<cluster::NodeRef> nodes = {};  // kFilter, kPrioritize
  std::vector<NodeVictims> victims = {};     // kPreempt; ascending by node
  std::string node = {};                     // kBind
};

struct ExtenderAnswer {
  using Reasons = std::vector<std::pair<std::string, std::string>>;  // node and why
  struct Victims {
    std::string node;
    std::vector<std::string> uids;
    std::int64_t budget_violations = 0;
  };

  std::string error = {};  // of kFilter and kBind
  // kFilter: nothing is not the same as none.
  std::optional<std::vector<std::string>> node_names = {};
  std::optional<std::vector<std::string>> nodes = {};  // of whole objects, the names
  Reasons failed = {};
  Reasons failed_and_unresolvable = {};
  std::vector<std::pair<std::string, std::int64_t>> scores = {};  // kPrioritize
  std::vector<Victims> victims = {};                              // kPreempt
};

}  // namespace berth::cycle
