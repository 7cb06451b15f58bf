#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// An example of a plugin from outside, and the one that docs/writing-a-plugin.md walks through: a node with
// the label example.com/hold-for takes pods of the namespace that the label names, and no others.
//
// Not in the default list; a configuration enables it by its name.
class ExampleHold final : public framework::Plugin,
                          public framework::FilterPoint,
                          public framework::EnqueuePoint {
 public:
  explicit ExampleHold(const framework::PluginSetup&) {}

  static constexpr std::string_view kLabel = "example.com/hold-for";

  std::string_view Name() const override { return "ExampleHold"; }
  std::span<const framework::ReasonText> Reasons() const override;
  std::unique_ptr<framework::Plan> MakePlan(const framework::PlanInput& input) const override;
  void AppendScope(const framework::Cycle& cycle, framework::Scope& scope) const override;
  void Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const override;
  std::vector<framework::EventRegistration> EventsToRegister() const override;
};

}  // namespace berth::plugins
