#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <set>

namespace berth::bench {

// scheduler_perf runs without the admission of priorities and gives pods numbers. Where that admission is on,
// a pod's priority comes from its class alone: a class of that value makes the same pod.
class PriorityClasses {
 public:
  // Gives the pod its class, if it needs one. The class itself comes out if it has to be created first.
  std::optional<boost::json::object> Prepare(boost::json::object& pod);

 private:
  std::set<std::int64_t> known_;
};

// What an API server fills in whenever it reads a node; the sandbox does so for a new one only.
void FillAllocatable(boost::json::object& node);

}  // namespace berth::bench
