#include "plugins/node_ports.h"

#include <algorithm>
#include <string>

#include "plugins/hint_objects.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

enum NodePortsReason : framework::ReasonId { kPortTaken };
constexpr framework::ReasonText kNodePortsReasons[] = {
    {framework::Code::kUnschedulable, "node(s) didn't have free ports for the requested pod ports"},
};

struct PortPlan final : framework::Plan {
  std::vector<cluster::HostPort> wanted;
};

base::Result<framework::Hint> AfterPodDeletion(const framework::HintInput& input) {
  const auto deleted = DeletedObjectOf<api::PodRecord>(input);
  if (!deleted) return std::unexpected(deleted.error());
  const api::PodRecord& gone = **deleted;
  // It held nothing, and no place was kept for it.
  if (gone.node_name.empty() && gone.nominated_node_name.empty()) return framework::Hint::kQueueSkip;
  const std::vector<cluster::HostPort> wanted = cluster::HostPortsOf(input.record().spec->spec);
  const std::vector<cluster::HostPort> freed = cluster::HostPortsOf(gone.spec->spec);
  return QueueIf(std::ranges::any_of(freed, [&](const cluster::HostPort& port) {
    return std::ranges::any_of(wanted,
                               [&](const cluster::HostPort& want) { return cluster::Conflict(port, want); });
  }));
}

}  // namespace

std::span<const framework::ReasonText> NodePorts::Reasons() const { return kNodePortsReasons; }

std::unique_ptr<framework::Plan> NodePorts::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<PortPlan>();
  plan->wanted = cluster::HostPortsOf(input.spec);
  plan->filters = !plan->wanted.empty();
  plan->filter_reads = framework::Reads::Alike(cluster::kPortsFact);
  return plan;
}

framework::PreFilterResult NodePorts::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred() || !cycle.PlanOf<PortPlan>(*this).filters) {
    return {.status = framework::Status::Skip()};
  }
  return {};
}

void NodePorts::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  const auto& plan = cycle.PlanOf<PortPlan>(*this);
  const cluster::NodeTable& table = cycle.cluster().nodes();
  const cluster::PortTable& ports = cycle.cluster().ports();
  const auto is_taken = [&](const cluster::PortUse& use) {
    const cluster::HostPort& held = ports.Get(use.port);
    return std::ranges::any_of(plan.wanted,
                               [&](const cluster::HostPort& want) { return cluster::Conflict(held, want); });
  };
  nodes.RemoveIf(kPortTaken, [&](cluster::NodeRow row) {
    return table.with_ports().Test(row.index()) && std::ranges::any_of(table.ports(row), is_taken);
  });
}

std::vector<framework::EventRegistration> NodePorts::EventsToRegister() const {
  return {{.event = {framework::EventResource::kAssignedPod, framework::kDelete},
           .hint = AfterPodDeletion,
           .by_template = true},
          {.event = {framework::EventResource::kNode, framework::kAdd}}};
}

bool NodePorts::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  std::vector<std::string> ports;
  for (const cluster::HostPort& port : cluster::HostPortsOf(pod.record().spec->spec)) {
    std::string& text = ports.emplace_back(std::to_string(port.port));
    AppendField(text, port.protocol);
    AppendField(text, port.ip);
  }
  std::ranges::sort(ports);
  ports.erase(std::ranges::unique(ports).begin(), ports.end());
  std::string text;
  for (const std::string& port : ports) AppendField(text, port);
  signature.Add("v1.Pod.Spec.HostPorts()", std::move(text));
  return true;
}

}  // namespace berth::plugins
