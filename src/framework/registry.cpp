#include "framework/registry.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

#include "base/check.h"

namespace berth::framework {

const PluginFactory* Registry::Find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &found->factory;
}

void Registry::Add(std::string_view name, PluginFactory factory) {
  BERTH_CHECK(!Contains(name));
  entries_.push_back({name, std::move(factory)});
}

base::Result<std::unique_ptr<Plugin>> Registry::Make(std::string_view name, const PluginSetup& setup) const {
  const PluginFactory* const factory = Find(name);
  if (factory == nullptr) return base::Fail(fmt::format("plugin \"{}\" does not exist", name));
  return (*factory)(setup);
}

std::vector<std::string_view> Registry::Names() const {
  std::vector<std::string_view> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

}  // namespace berth::framework
