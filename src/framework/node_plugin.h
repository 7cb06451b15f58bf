#pragma once

#include <cstdint>
#include <span>

#include "cluster/cluster.h"
#include "framework/points.h"

// For plugins that are written one node at a time: simple ones, and those of third parties. They see every
// row once per attempt and nothing of them is kept in views unless they make a plan that says what they read.
namespace berth::framework {

class NodeFilter : public Plugin, public FilterPoint {
 public:
  // Success, a refusal, or an error that fails the attempt.
  virtual Status FilterNode(const Cycle& cycle, cluster::NodeRow row) const = 0;
  void Filter(const Cycle& cycle, NodeSelection& nodes) const final;
};

// To be inherited beside Plugin or NodeFilter.
class NodeScore : public ScorePoint {
 public:
  virtual base::Result<std::int64_t> ScoreNode(const Cycle& cycle, cluster::NodeRow row) const = 0;
  Status Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
               std::span<std::int64_t> scores) const final;
};

}  // namespace berth::framework
