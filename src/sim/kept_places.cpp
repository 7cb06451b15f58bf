#include "sim/kept_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace berth::sim {
namespace {

std::set<std::string> PodsOn(const cluster::Cluster& cluster, cluster::NodeRow row) {
  std::set<std::string> uids;
  for (const cluster::PodSlot pod : cluster.nodes().pods(row)) uids.insert(cluster.pods().record(pod).uid);
  return uids;
}

std::int32_t AttemptsOf(const core::Scheduler& scheduler, cluster::PodSlot pod) {
  const queue::QueueingParams* const params = scheduler.queue().Find(pod);
  return params == nullptr ? -1 : params->attempts;
}

// Whether the node has what the pod asks for beside all that are there, victims too.
bool HasRoom(const cluster::Cluster& cluster, cluster::NodeRow row, cluster::PodSlot pod) {
  const cluster::NodeTable& nodes = cluster.nodes();
  const cluster::Requests& asked = cluster.requests(pod);
  const auto has = [&](cluster::ResourceId resource, std::int64_t amount) {
    return nodes.requested(resource)[row.index()] + amount <= nodes.allocatable(resource)[row.index()];
  };
  return has(cluster::kCpu, asked.milli_cpu) && has(cluster::kMemory, asked.memory) &&
         nodes.pod_count()[row.index()] + 1 <= nodes.pod_limit()[row.index()];
}

bool Nominates(const core::ApiCall& call) {
  return call.type == dispatch::CallType::kPodStatusPatch && call.change.nominated_node_name &&
         !call.change.nominated_node_name->empty();
}

}  // namespace

void KeptPlaces::Answered(dispatch::CallId call) {
  std::erase_if(places_, [&](const Place& place) { return place.call == call; });
}

bool KeptPlaces::IsGivenUp(const core::Scheduler& scheduler, const Place& place) {
  const cluster::PodTable& pods = scheduler.cluster().pods();
  const cluster::PodSlot pod = pods.Find(place.pod);
  if (!pod.IsValid() || pods.state(pod) != cluster::PodState::kPending || pods.terminating(pod)) return true;
  return AttemptsOf(scheduler, pod) != place.attempts;
}

bool KeptPlaces::LookAt(const core::Scheduler& scheduler, Place& place, Violations& violations) {
  const cluster::Cluster& cluster = scheduler.cluster();
  const cluster::NodeRow row = cluster.nodes().Find(place.node);
  if (!row.IsValid() || !cluster.nodes().exists(row)) return false;
  std::vector<cluster::PodSlot> newcomers;
  for (const cluster::PodSlot pod : cluster.nodes().pods(row)) {
    if (place.there.insert(cluster.pods().record(pod).uid).second) newcomers.push_back(pod);
  }
  const auto may_come = [&](cluster::PodSlot pod) {
    return cluster.pods().priority(pod) > place.priority ||
           cluster.pods().state(pod) != cluster::PodState::kAssumed;
  };
  if (std::ranges::any_of(newcomers, may_come)) return false;
  const cluster::PodSlot keeper = cluster.pods().Find(place.pod);
  if (newcomers.empty() || HasRoom(cluster, row, keeper)) return true;
  const cluster::NodeNameId nominated = cluster.nominator().NodeOf(keeper);
  violations.push_back(fmt::format(
      "{} got the place on {} that {} makes for itself, whose nomination is now \"{}\"",
      cluster.pods().record(newcomers.front()).name, place.node, cluster.pods().record(keeper).name,
      nominated.IsValid() ? cluster.nodes().NameText(nominated) : std::string_view()));
  return false;
}

void KeptPlaces::Look(const core::Scheduler& scheduler, std::span<const core::ApiCall> calls,
                      Violations& violations) {
  const auto is_overruled = [&](const Place& place) {
    return std::ranges::any_of(calls, [&](const core::ApiCall& call) {
      return call.pod->uid == place.pod ||
             (Nominates(call) && *call.change.nominated_node_name == place.node);
    });
  };
  std::erase_if(places_, [&](Place& place) {
    return is_overruled(place) || IsGivenUp(scheduler, place) || !LookAt(scheduler, place, violations);
  });
  const cluster::Cluster& cluster = scheduler.cluster();
  for (const core::ApiCall& call : calls) {
    if (!Nominates(call)) continue;
    const cluster::PodSlot pod = cluster.pods().Find(call.pod->uid);
    const cluster::NodeRow row = cluster.nodes().Find(*call.change.nominated_node_name);
    if (!pod.IsValid() || !row.IsValid() || AttemptsOf(scheduler, pod) < 0) continue;
    if (cluster.pods().state(pod) != cluster::PodState::kPending) continue;
    ++kept_count_;
    places_.push_back({.call = call.id,
                       .pod = call.pod->uid,
                       .node = *call.change.nominated_node_name,
                       .priority = cluster.pods().priority(pod),
                       .attempts = AttemptsOf(scheduler, pod),
                       .there = PodsOn(cluster, row)});
  }
}

}  // namespace berth::sim
