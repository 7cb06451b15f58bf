#include "plugins/node_name.h"

#include <string>

namespace berth::plugins {
namespace {

enum NodeNameReason : framework::ReasonId { kOtherNode };
constexpr framework::ReasonText kNodeNameReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) didn't match the requested node name"},
};

// Where PreFilter's answer lives while the attempt lasts.
struct Wanted final : framework::CycleData {
  explicit Wanted(std::string_view name) : names{std::string(name)} {}
  framework::NodeNames names;
};

}  // namespace

std::span<const framework::ReasonText> NodeName::Reasons() const { return kNodeNameReasons; }

std::unique_ptr<framework::Plan> NodeName::MakePlan(const framework::PlanInput&) const {
  auto plan = std::make_unique<framework::Plan>();
  plan->filter_reads = framework::Reads::Row(cluster::kExistsFact);
  return plan;
}

void NodeName::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  if (cycle.node_name().empty()) return;
  // A node that is not there is like any other that is not there: no row has its name.
  const cluster::NodeTable& nodes = cycle.cluster().nodes();
  const cluster::NodeRow row = nodes.Find(cycle.node_name());
  if (row.IsValid()) {
    scope.Add(nodes.Version(row));
  } else {
    scope.Add(row);
  }
}

framework::PreFilterResult NodeName::PreFilter(framework::Cycle& cycle) const {
  if (cycle.node_name().empty()) return {.status = framework::Status::Skip()};
  return {.status = {}, .nodes = &cycle.EmplaceData<Wanted>(*this, cycle.node_name()).names};
}

void NodeName::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.node_name().empty()) return;
  const cluster::NodeRow wanted = cycle.cluster().nodes().Find(cycle.node_name());
  nodes.RemoveIf(kOtherNode, [&](cluster::NodeRow row) { return row != wanted; });
}

std::vector<framework::EventRegistration> NodeName::EventsToRegister() const {
  return {{.event = {framework::EventResource::kNode, framework::kAdd}}};
}

bool NodeName::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  signature.Add("v1.Pod.Spec.NodeName", pod.record().node_name);
  return true;
}

}  // namespace berth::plugins
