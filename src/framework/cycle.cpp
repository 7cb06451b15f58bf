#include "framework/cycle.h"

#include <algorithm>
#include <utility>

#include "framework/profile.h"

namespace berth::framework {

bool IsResizeDeferred(const api::PodRecord& pod) {
  const auto found = std::ranges::find(pod.conditions(), "PodResizePending", &api::PodCondition::type);
  return found != pod.conditions().end() && found->reason == "Deferred";
}

Cycle::Cycle(const Profile& profile, cluster::Cluster& cluster, RejectionTable& rejections)
    : profile_(profile),
      cluster_(cluster),
      rejections_(rejections),
      data_(profile.plugins().size()),
      skipped_(profile.plugins().size()) {}

const Features& Cycle::features() const { return profile_.features(); }

void Cycle::Begin(const Subject& subject) {
  subject_ = subject;
  resize_deferred_ =
      features().in_place_pod_vertical_scaling_scheduler_preemption && IsResizeDeferred(record());
  plans_ = {};
  states_ = {};
  for (auto& data : data_) data.reset();
  to_activate_.clear();
  skipped_.ClearAll();
  scope_.clear();
  const std::size_t row_count = cluster_.nodes().row_count();
  if (refusals_.size() < row_count) refusals_.resize(row_count);
  state_changes_.verdicts.Reset(row_count);
  state_changes_.scores.Reset(row_count);
}

Cycle::Data Cycle::TakeData() {
  Data taken(data_.size());
  std::swap(taken, data_);
  return taken;
}

}  // namespace berth::framework
