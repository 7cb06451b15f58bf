#include "config/arguments.h"

#include <algorithm>
#include <iterator>

namespace berth::config {
namespace {

struct Kind {
  std::string_view plugin;
  PluginArguments (*make)();
};

template <class T>
PluginArguments Make() {
  return T{};
}

constexpr Kind kKinds[] = {
    {"DefaultPreemption", Make<DefaultPreemptionArgs>},
    {"DynamicResources", Make<DynamicResourcesArgs>},
    {"InterPodAffinity", Make<InterPodAffinityArgs>},
    {"NodeAffinity", Make<NodeAffinityArgs>},
    {"NodeResourcesBalancedAllocation", Make<NodeResourcesBalancedAllocationArgs>},
    {"NodeResourcesFit", Make<NodeResourcesFitArgs>},
    {"PodTopologySpread", Make<PodTopologySpreadArgs>},
    {"VolumeBinding", Make<VolumeBindingArgs>},
};

}  // namespace

std::optional<PluginArguments> EmptyArguments(std::string_view plugin_name) {
  const auto* const kind = std::ranges::find(kKinds, plugin_name, &Kind::plugin);
  if (kind == std::end(kKinds)) return std::nullopt;
  return kind->make();
}

std::string_view PluginOfArgumentsKind(std::string_view kind) {
  constexpr std::string_view kSuffix = "Args";
  if (!kind.ends_with(kSuffix)) return {};
  kind.remove_suffix(kSuffix.size());
  const auto* const found = std::ranges::find(kKinds, kind, &Kind::plugin);
  return found == std::end(kKinds) ? std::string_view() : found->plugin;
}

}  // namespace berth::config
