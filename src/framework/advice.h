#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/interner.h"
#include "cluster/ids.h"
#include "framework/points.h"
#include "framework/status.h"

// What goes out to those outside who have a say in a decision, and what comes back. A wait lies between, in
// which the cluster goes on.
namespace berth::framework {

// The nodes on which a pod fits, to be shown before one is chosen.
struct Feasible {
  std::vector<cluster::NodeRow> rows;
  bool is_nominated = false;  // the one row is the pod's own nominated node
};

using NodeScores = absl::flat_hash_map<std::string, std::int64_t, base::TextHash, std::equal_to<>>;

// What was said about the nodes that were shown. By name: what has come since was not shown and is left out,
// what has gone is not found.
struct Advice {
  struct Refusal {
    std::string node;
    Code code = Code::kUnschedulable;
    std::string reason;
  };
  NodeNames allowed;
  std::vector<Refusal> refused;  // of the others, those for which a reason was given
  bool has_refused = false;      // some node that was shown is not among the allowed
  NodeScores scores;             // are added to the totals
};

}  // namespace berth::framework
