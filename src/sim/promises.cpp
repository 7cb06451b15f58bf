#include "sim/promises.h"

#include <algorithm>
#include <fmt/format.h>

#include "client/objects.h"

#include "base/check.h"
#include "cluster/ports.h"
#include "sim/watch_link.h"

namespace berth::sim {
namespace {

template <class T>
std::vector<client::Shared<T>> ReadAll(sandbox::Store& store, client::Resource resource,
                                       api::SharedParts& shared) {
  const auto reader = client::MakeObjectReader(resource, shared);
  const auto page = store.List(SelectionOf(resource));
  std::vector<client::Shared<T>> objects;
  for (const sandbox::RevisionPtr& revision : page->items) {
    auto read = reader->Read(client::Encoding::kProtobuf, revision->protobuf());
    BERTH_CHECK(read.has_value());
    objects.push_back(std::get<client::Shared<T>>(read->object));
  }
  return objects;
}

bool IsFinished(const api::PodRecord& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

// Judged by a cluster of its own, made of nothing but what the server has.
class ServerState {
 public:
  explicit ServerState(sandbox::Store& store) {
    for (const auto& node : ReadAll<api::Node>(store, client::Resource::kNodes, shared_))
      cluster_.SetNode(node);
    for (const auto& pod : ReadAll<api::PodRecord>(store, client::Resource::kPods, shared_)) {
      if (!pod->node_name.empty() && !IsFinished(*pod)) BERTH_CHECK(cluster_.AddPod(pod).has_value());
    }
  }

  void Check(Violations& violations) const {
    const cluster::NodeTable& nodes = cluster_.nodes();
    for (std::uint32_t index = 0; index < nodes.row_count(); ++index) {
      const cluster::NodeRow row(index);
      if (nodes.IsLive(row) && nodes.exists(row)) CheckNode(row, violations);
    }
  }

 private:
  void CheckNode(cluster::NodeRow row, Violations& violations) const {
    const cluster::NodeTable& nodes = cluster_.nodes();
    for (const cluster::ResourceAmount& offered : nodes.allocatable_of(row)) {
      if (offered.resource == cluster::kPods) continue;
      const std::int64_t requested = nodes.requested(offered.resource)[row.index()];
      if (requested > offered.amount) {
        violations.push_back(fmt::format("{} of {} is asked for {} times and there {} times", nodes.name(row),
                                         cluster_.resources().Name(offered.resource), requested,
                                         offered.amount));
      }
    }
    if (nodes.pod_count()[row.index()] > nodes.pod_limit()[row.index()]) {
      violations.push_back(fmt::format("{} has {} pods and room for {}", nodes.name(row),
                                       nodes.pod_count()[row.index()], nodes.pod_limit()[row.index()]));
    }
    for (const cluster::PortUse& use : nodes.ports(row)) {
      if (use.count > 1) {
        violations.push_back(fmt::format("port {} of {} is taken {} times",
                                         cluster_.ports().Get(use.port).port, nodes.name(row), use.count));
      }
    }
  }

  api::SharedParts shared_;
  cluster::Cluster cluster_;
};

}  // namespace

void CheckNothingOvercommitted(sandbox::Store& store, Violations& violations) {
  ServerState(store).Check(violations);
}

void CheckOpinionHeeded(sandbox::Store& store,
                        const std::function<bool(const api::PodRecord&, std::string_view)>& likes,
                        Violations& violations) {
  api::SharedParts shared;
  for (const auto& pod : ReadAll<api::PodRecord>(store, client::Resource::kPods, shared)) {
    if (pod->node_name.empty() || likes(*pod, pod->node_name)) continue;
    violations.push_back(fmt::format("{} is on {}, which the extender refuses", pod->name, pod->node_name));
  }
}

void CheckEveryPodHasOnePlace(const core::Scheduler& scheduler, Violations& violations) {
  const cluster::PodTable& pods = scheduler.cluster().pods();
  const queue::SchedulingQueue& queue = scheduler.queue();
  for (std::uint32_t index = 0; index < pods.slot_count(); ++index) {
    const cluster::PodSlot slot(index);
    if (!pods.IsLive(slot)) continue;
    const bool waits = pods.state(slot) == cluster::PodState::kPending;
    const bool is_queued = queue.WhereIs(slot) != queue::Place::kNowhere;
    // A pod that is going is not tried any more.
    const bool is_to_be_tried = waits && !pods.terminating(slot);
    if (is_to_be_tried && !is_queued && !queue.in_flight().Contains(pods.Version(slot))) {
      violations.push_back(fmt::format("{} waits nowhere", cluster::PodName(pods.record(slot))));
    }
    if (!waits && is_queued) {
      violations.push_back(
          fmt::format("{} has a node and waits in the queue", cluster::PodName(pods.record(slot))));
    }
  }
}

void CheckNominations(const core::Scheduler& scheduler, Violations& violations) {
  const cluster::Cluster& cluster = scheduler.cluster();
  const cluster::PodTable& pods = cluster.pods();
  for (std::uint32_t index = 0; index < pods.slot_count(); ++index) {
    const cluster::PodSlot slot(index);
    if (!pods.IsLive(slot) || pods.state(slot) != cluster::PodState::kPending) continue;
    const cluster::NodeNameId nominated = cluster.nominator().NodeOf(slot);
    const std::string_view known =
        nominated.IsValid() ? cluster.nodes().NameText(nominated) : std::string_view();
    if (known != pods.record(slot).nominated_node_name) {
      violations.push_back(fmt::format("{} is nominated to \"{}\" and its status says \"{}\"",
                                       cluster::PodName(pods.record(slot)), known,
                                       pods.record(slot).nominated_node_name));
    }
  }
}

namespace {

// Nothing but its size decides where it fits.
bool IsPlain(const api::PodSpec& spec) {
  const bool has_ports = std::ranges::any_of(
      spec.containers, [](const api::Container& container) { return !container.ports.empty(); });
  return !spec.affinity && spec.node_selector.empty() && spec.topology_spread_constraints.empty() &&
         !has_ports && spec.preemption_policy != "Never";
}

// Whether the pod would fit if all pods of lower priority went, and there are some: pod by pod, by nothing
// but their records.
bool CouldEvictOn(const cluster::Cluster& cluster, cluster::PodSlot pod, cluster::NodeRow row) {
  const cluster::NodeTable& nodes = cluster.nodes();
  const cluster::Requests& asked = cluster.requests(pod);
  std::int64_t cpu = asked.milli_cpu;
  std::int64_t memory = asked.memory;
  std::int64_t pods = 1;
  bool has_lower = false;
  for (const cluster::PodSlot other : nodes.pods(row)) {
    if (cluster.pods().priority(other) < cluster.pods().priority(pod)) {
      has_lower = true;
      continue;
    }
    // What such a pod wants of its neighbours is not reckoned with.
    if (cluster.pods().record(other).spec->spec.affinity) return false;
    cpu += cluster.requests(other).milli_cpu;
    memory += cluster.requests(other).memory;
    ++pods;
  }
  return has_lower && cpu <= nodes.allocatable(cluster::kCpu)[row.index()] &&
         memory <= nodes.allocatable(cluster::kMemory)[row.index()] && pods <= nodes.pod_limit()[row.index()];
}

bool IsPlainNode(const api::Node& node) { return !node.spec.unschedulable && node.spec.taints.empty(); }

}  // namespace

void CheckNobodyCouldEvict(const core::Scheduler& scheduler,
                           const std::function<bool(const api::PodRecord&, std::string_view)>& likes,
                           Violations& violations) {
  const cluster::Cluster& cluster = scheduler.cluster();
  const cluster::PodTable& pods = cluster.pods();
  const bool has_nominations = cluster.nominator().node_count() > 0;
  for (std::uint32_t index = 0; index < pods.slot_count() && !has_nominations; ++index) {
    const cluster::PodSlot slot(index);
    if (!pods.IsLive(slot) || pods.state(slot) != cluster::PodState::kPending || pods.terminating(slot))
      continue;
    const api::PodRecord& pod = pods.record(slot);
    if (!IsPlain(pod.spec->spec)) continue;
    cluster.nodes().existing().ForEach([&](std::size_t bit) {
      const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
      const std::string_view name = cluster.nodes().name(row);
      if (!IsPlainNode(*cluster.nodes().object(row)) || !likes(pod, name)) return;
      if (!CouldEvictOn(cluster, slot, row)) return;
      violations.push_back(fmt::format("{} waits and could evict others from {}", pod.name, name));
    });
  }
}

void CheckNothingIsLeft(const core::Scheduler& scheduler, Violations& violations) {
  const auto check = [&](std::string_view what, std::size_t count) {
    if (count > 0) violations.push_back(fmt::format("{} {} are left when all pods are gone", count, what));
  };
  check("pods", scheduler.cluster().pods().size());
  check("templates", scheduler.cluster().pod_factory().templates().size());
  check("pods in flight", scheduler.queue().in_flight().pod_count());
  check("events in flight", scheduler.queue().in_flight().event_count());
  check("calls", scheduler.dispatcher().pod_count());
  check("bindings", scheduler.binding_count());
  check("questions to extenders", scheduler.is_consulting() ? 1 : 0);
}

}  // namespace berth::sim
