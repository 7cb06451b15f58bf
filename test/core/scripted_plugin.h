#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scheduler.h"
#include "framework/binding_points.h"
#include "framework/node_plugin.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"
#include "plugins/all_plugins.h"

namespace berth::core::test {

// What plugins do in a test, and what was asked of them. Whatever is not set lets the pod pass.
struct Script {
  std::function<framework::PreFilterResult()> pre_filter;
  std::function<framework::Status(std::string_view node)> filter;
  std::function<framework::Status()> reserve;
  std::function<framework::PermitResult()> permit;
  std::function<framework::PreFlightResult()> pre_flight;
  std::function<base::Task<framework::Status>(framework::BindingContext&)> pre_bind;
  std::function<framework::Status()> bind;
};
struct Scripts {
  std::map<std::string, Script, std::less<>> of;  // by plugin
  std::vector<std::string> calls;                 // "Reserve A", in order

  int Count(std::string_view call) const { return static_cast<int>(std::ranges::count(calls, call)); }
};

class ScriptedPlugin final : public framework::NodeFilter,
                             public framework::PreFilterPoint,
                             public framework::ReservePoint,
                             public framework::PermitPoint,
                             public framework::PreBindPoint,
                             public framework::BindPoint,
                             public framework::PostBindPoint,
                             public framework::EnqueuePoint {
 public:
  ScriptedPlugin(std::string_view name, Scripts& scripts) : name_(name), scripts_(scripts) {}

  std::string_view Name() const override { return name_; }
  framework::PreFilterResult PreFilter(framework::Cycle&) const override {
    Note("PreFilter");
    return script().pre_filter ? script().pre_filter() : framework::PreFilterResult{};
  }
  framework::Status FilterNode(const framework::Cycle& cycle, cluster::NodeRow row) const override {
    Note("Filter");
    if (!script().filter) return {};
    return script().filter(cycle.cluster().nodes().name(row));
  }
  framework::Status Reserve(cluster::Cluster&, framework::Assignment&) const override {
    Note("Reserve");
    return script().reserve ? script().reserve() : framework::Status();
  }
  void Unreserve(cluster::Cluster&, framework::Assignment&) const override { Note("Unreserve"); }
  framework::PermitResult Permit(const cluster::Cluster&, framework::Assignment&) const override {
    Note("Permit");
    return script().permit ? script().permit() : framework::PermitResult{};
  }
  framework::PreFlightResult PreBindPreFlight(const cluster::Cluster&,
                                              const framework::Assignment&) const override {
    return script().pre_flight ? script().pre_flight()
                               : framework::PreFlightResult{.status = framework::Status::Skip()};
  }
  base::Task<framework::Status> PreBind(framework::BindingContext& context,
                                        framework::Assignment&) const override {
    Note("PreBind");
    framework::Status status;
    if (script().pre_bind) status = co_await script().pre_bind(context);
    Note("PreBound");
    co_return status;
  }
  base::Task<framework::Status> Bind(framework::BindingContext&, framework::Assignment&) const override {
    Note("Bind");
    co_return script().bind ? script().bind() : framework::Status::Skip();
  }
  void PostBind(cluster::Cluster&, framework::Assignment&) const override { Note("PostBind"); }
  // Nothing that happens helps: pods that such a plugin refused wait for the flush.
  std::vector<framework::EventRegistration> EventsToRegister() const override { return {}; }

 private:
  const Script& script() const { return scripts_.of[std::string(name_)]; }
  void Note(std::string_view what) const {
    scripts_.calls.push_back(std::string(what) + " " + std::string(name_));
  }

  const std::string_view name_;
  Scripts& scripts_;
};

// A profile of these plugins, in this order; names of one letter are scripted.
inline SchedulerOptions Scripted(Scripts& scripts, std::vector<std::string_view> names) {
  SchedulerOptions options;
  std::vector<framework::EnabledPlugin> enabled;
  std::vector<std::string_view> scripted;
  for (const std::string_view name : names) {
    enabled.push_back({std::string(name), 0});
    if (name.size() == 1) scripted.push_back(name);
  }
  options.add_plugins = [scripted, &scripts](framework::Registry& registry) {
    for (const std::string_view name : scripted) {
      registry.Add(name,
                   [name, &scripts](
                       const framework::PluginSetup&) -> base::Result<std::unique_ptr<framework::Plugin>> {
                     return std::make_unique<ScriptedPlugin>(name, scripts);
                   });
    }
  };
  framework::Registry registry = plugins::AllPlugins();
  options.add_plugins(registry);
  const framework::PluginArgs args;
  cluster::Cluster aside;
  options.profiles.push_back(
      *framework::ExpandEverywhere(enabled, registry, {options.features, args, aside}));
  return options;
}

}  // namespace berth::core::test
