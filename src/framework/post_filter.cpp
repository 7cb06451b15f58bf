#include "framework/post_filter.h"

#include <string>
#include <utility>
#include <vector>

namespace berth::framework {

PostFilterResult RunPostFilter(const Profile& profile, Cycle& cycle, const Diagnosis& diagnosis) {
  PostFilterResult merged{.status = Status(Code::kUnschedulable)};
  std::vector<std::string> reasons;
  for (const Placed<PostFilterPoint>& placed : profile.post_filter()) {
    PostFilterResult result = placed.point->PostFilter(cycle, diagnosis);
    if (result.preemption) merged.preemption = result.preemption;
    result.status.SetPlugin(placed.plugin->Name());
    if (result.preemption && !result.preemption->candidates.empty()) {
      merged.status = Status(Code::kWait, std::move(reasons)).WithPlugin(placed.plugin->Name());
      return merged;
    }
    if (!result.status.IsRejected() && !result.status.IsSuccess()) {
      merged.status = Status::Error(result.status.Message()).WithPlugin(placed.plugin->Name());
      merged.nominated_node.reset();
      return merged;
    }
    if (result.status.code() != Code::kUnschedulable && result.status.code() != Code::kPending) {
      result.preemption = std::move(merged.preemption);
      return result;
    }
    reasons.insert(reasons.end(), result.status.reasons().begin(), result.status.reasons().end());
    if (result.nominated_node) merged.nominated_node = std::move(result.nominated_node);
  }
  merged.status = Status(Code::kUnschedulable, std::move(reasons));
  return merged;
}

PostFilterResult ResumePostFilter(const Profile& profile, const cluster::Cluster& cluster,
                                  const PostFilterResult& waiting,
                                  std::span<const PreemptionCandidate> candidates) {
  PostFilterResult result{.status = Status(Code::kUnschedulable), .preemption = Preemption()};
  for (const Placed<PostFilterPoint>& placed : profile.post_filter()) {
    if (placed.plugin->Name() == waiting.status.plugin()) result = placed.point->Choose(cluster, candidates);
  }
  if (result.status.code() == Code::kUnschedulable) {
    std::vector<std::string> reasons = waiting.status.reasons();
    reasons.insert(reasons.end(), result.status.reasons().begin(), result.status.reasons().end());
    result.status = Status(Code::kUnschedulable, std::move(reasons));
    if (!result.nominated_node) result.nominated_node = waiting.nominated_node;
  }
  result.status.SetPlugin(waiting.status.plugin());
  return result;
}

}  // namespace berth::framework
