#include "config/plugin_sets.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/profile.h"

namespace berth::config {
namespace {

bool Contains(const std::vector<PluginEntry>& entries, std::string_view name) {
  return std::ranges::find(entries, name, &PluginEntry::name) != entries.end();
}

PluginSet MergeSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  for (const PluginSet* set : {&custom, &defaults}) {
    for (const PluginEntry& entry : set->disabled) merged.disabled.push_back({entry.name, 0});
  }
  std::vector<bool> consumed(custom.enabled.size(), false);
  if (!Contains(merged.disabled, "*")) {
    for (const PluginEntry& entry : defaults.enabled) {
      if (Contains(merged.disabled, entry.name)) continue;
      std::optional<std::size_t> own;
      for (std::size_t i = 0; i < custom.enabled.size(); ++i) {
        if (custom.enabled[i].name == entry.name) own = i;
      }
      if (own) consumed[*own] = true;
      merged.enabled.push_back(own ? custom.enabled[*own] : entry);
    }
  }
  // Entries that are left twice stay, to be reported as such later.
  for (std::size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!consumed[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

}  // namespace

Plugins DefaultPluginSets(const framework::Features& features) {
  Plugins plugins;
  for (const framework::EnabledPlugin& plugin : framework::DefaultPlugins(features)) {
    plugins.at(Point::kMultiPoint).enabled.push_back({plugin.name, static_cast<std::int32_t>(plugin.weight)});
  }
  return plugins;
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& custom) {
  Plugins merged;
  for (std::size_t point = 0; point < kPointCount; ++point) {
    merged.sets[point] = MergeSet(defaults.sets[point], custom.sets[point]);
  }
  return merged;
}

}  // namespace berth::config
