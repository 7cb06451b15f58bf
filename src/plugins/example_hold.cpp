#include "plugins/example_hold.h"

#include "plugins/hint_objects.h"

namespace berth::plugins {
namespace {

enum Reason : framework::ReasonId { kHeld };
constexpr framework::ReasonText kReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) were held for another namespace"},
};

bool Admits(const api::Node& node, std::string_view namespace_) {
  const std::string* const holder = node.metadata.labels.find(ExampleHold::kLabel);
  return holder == nullptr || *holder == namespace_;
}

base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) {
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  const std::string_view namespace_ = input.record().namespace_;
  const bool admitted_before = node->before != nullptr && Admits(*node->before, namespace_);
  return QueueIf(Admits(*node->after, namespace_) && !admitted_before);
}

}  // namespace

std::span<const framework::ReasonText> ExampleHold::Reasons() const { return kReasons; }

std::unique_ptr<framework::Plan> ExampleHold::MakePlan(const framework::PlanInput&) const {
  auto plan = std::make_unique<framework::Plan>();
  plan->filter_reads = framework::Reads::Row(cluster::kLabelsFact);
  return plan;
}

void ExampleHold::AppendScope(const framework::Cycle& cycle, framework::Scope& scope) const {
  scope.AddText(cycle.record().namespace_);
}

void ExampleHold::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  const cluster::LabelTable& labels = cycle.cluster().labels();
  const cluster::LabelKeyId key = labels.FindKey(kLabel);
  if (!key.IsValid()) return;  // no node has it
  const cluster::LabelValueId own = labels.FindValue(cycle.record().namespace_);
  const std::span<const cluster::LabelSetId> label_sets = cycle.cluster().nodes().label_set();
  nodes.RemoveIf(kHeld, [&](cluster::NodeRow row) {
    const cluster::LabelValueId holder = labels.Value(label_sets[row.index()], key);
    return holder.IsValid() && holder != own;
  });
}

std::vector<framework::EventRegistration> ExampleHold::EventsToRegister() const {
  return {{.event = {framework::EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel},
           .hint = AfterNodeChange}};
}

}  // namespace berth::plugins
