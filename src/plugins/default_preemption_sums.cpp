#include "plugins/default_preemption_sums.h"

#include <algorithm>
#include <limits>

#include "framework/node_selection.h"
#include "framework/nominations.h"

namespace berth::plugins {
namespace {

// What moves on a node when pods come to it or go.
constexpr cluster::Facts kMovedByPods = cluster::kResourcesFact | cluster::kPodsFact | cluster::kPortsFact |
                                        cluster::kVolumesFact | cluster::kDevicesFact |
                                        cluster::kNominationsFact;

}  // namespace

std::int64_t SummedAmount(const cluster::Requests& requests, cluster::ResourceId resource) {
  if (resource == cluster::kCpu) return requests.milli_cpu;
  if (resource == cluster::kMemory) return requests.memory;
  if (resource == cluster::kEphemeralStorage) return requests.ephemeral_storage;
  const auto found = std::ranges::find(requests.scalars, resource, &cluster::ResourceAmount::resource);
  return found == requests.scalars.end() ? 0 : found->amount;
}

VictimSums::VictimSums(framework::Cycle& cycle) : cycle_(cycle) {
  for (const Filter& filter : cycle.profile().filter()) {
    if (applies_) applies_ = Sort(filter);
  }
  if (!applies_) return;
  left_.resize(asked_.size());
  passes_.Resize(cycle.cluster().nodes().row_count());
  refusals_.resize(cycle.cluster().nodes().row_count());
}

// False: the filter asks for more than sums.
bool VictimSums::Sort(const Filter& filter) {
  const framework::Plan* const plan = cycle_.plan(filter.index());
  if (cycle_.IsSkipped(filter.index()) || (plan != nullptr && !plan->filters)) return true;
  if (const auto* const fit = dynamic_cast<const NodeResourcesFit*>(filter.plugin)) {
    counts_pods_ = true;
    return fit->AsksForSums(cycle_, asked_);
  }
  if (plan == nullptr || plan->filter_reads.attempt || plan->filter_reads.state) return false;
  if ((plan->filter_reads.facts & kMovedByPods) != 0) return false;
  constant_.push_back(&filter);
  return true;
}

void VictimSums::Prepare(std::span<const cluster::NodeRow> rows) {
  if (!applies_) return;
  rows_.assign(rows.begin(), rows.end());
  std::ranges::sort(rows_);
  framework::NodeSelection nodes(rows_, refusals_, cycle_.rejections());
  for (const Filter* const filter : constant_) {
    const framework::FixedReasons fixed = cycle_.profile().fixed_reasons(filter->index());
    nodes.BeginPlugin(filter->index(), fixed.first, fixed.count);
    filter->point->Filter(cycle_, nodes);
    // Whoever makes a dry run meets the error in its place.
    if (!nodes.error().IsSuccess()) return;
  }
  for (const cluster::NodeRow row : rows_) passes_.Set(row.index());
}

bool VictimSums::TakeNominated(cluster::NodeRow row) {
  for (const cluster::PodSlot pod : cycle_.cluster().NominatedTo(row)) {
    if (!framework::IsExpected(cycle_, pod)) continue;
    const cluster::Requests& requests = cycle_.cluster().requests(pod);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (__builtin_sub_overflow(left_[i], SummedAmount(requests, asked_[i].resource), &left_[i]) ||
          left_[i] < 0) {
        return false;
      }
    }
    if (--pods_left_ < 0) return false;
  }
  return true;
}

bool VictimSums::FitsOnceEmptied(cluster::NodeRow row) {
  if (!applies_ || !passes_.Test(row.index())) return false;
  const cluster::NodeTable& nodes = cycle_.cluster().nodes();
  pods_left_ = std::numeric_limits<std::int64_t>::max();
  if (counts_pods_) {
    pods_left_ = nodes.pod_limit()[row.index()] - nodes.pod_count()[row.index()] +
                 nodes.PodsBelow(row, cycle_.priority()) - 1;
    if (pods_left_ < 0) return false;
  }
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const cluster::ResourceId resource = asked_[i].resource;
    std::int64_t stays = 0;
    // Sums that leave the range of numbers are left to a dry run.
    if (__builtin_sub_overflow(nodes.requested(resource)[row.index()],
                               nodes.RequestedBelow(row, cycle_.priority(), resource), &stays) ||
        __builtin_sub_overflow(nodes.allocatable(resource)[row.index()], stays, &left_[i]) ||
        __builtin_sub_overflow(left_[i], asked_[i].amount, &left_[i]) || left_[i] < 0) {
      return false;
    }
  }
  return TakeNominated(row);
}

bool VictimSums::CouldKeep(cluster::PodSlot pod) const {
  if (pods_left_ == 0) return false;
  const cluster::Requests& requests = cycle_.cluster().requests(pod);
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (SummedAmount(requests, asked_[i].resource) > left_[i]) return false;
  }
  return true;
}

bool VictimSums::Keep(cluster::PodSlot pod) {
  if (!CouldKeep(pod)) return false;
  const cluster::Requests& requests = cycle_.cluster().requests(pod);
  for (std::size_t i = 0; i < asked_.size(); ++i) left_[i] -= SummedAmount(requests, asked_[i].resource);
  --pods_left_;
  return true;
}

}  // namespace berth::plugins
