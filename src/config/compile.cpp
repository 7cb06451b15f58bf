#include "config/compile.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/go_text.h"
#include "config/argument_validation.h"
#include "config/extenders.h"
#include "config/field_problems.h"

namespace berth::config {
namespace {

constexpr std::int64_t kNodeScoreMax = 100;

bool Contains(const std::vector<PluginEntry>& entries, std::string_view name) {
  return std::ranges::find(entries, name, &PluginEntry::name) != entries.end();
}

using Names = std::set<std::string, std::less<>>;

// Everything that some point names.
Names NeededPlugins(const Plugins& plugins) {
  Names names;
  for (const PluginSet& set : plugins.sets) {
    for (const PluginEntry& entry : set.enabled) names.insert(entry.name);
  }
  return names;
}

// One profile: checks what it names and puts it in order.
class ProfileCompiler {
 public:
  ProfileCompiler(const Profile& profile, const PluginCatalog& catalog, const framework::Features& features)
      : profile_(profile), plugins_(*profile.plugins), catalog_(catalog), features_(features) {}

  base::Result<CompiledProfile> Run() {
    compiled_.scheduler_name = profile_.scheduler_name.value_or("");
    if (auto checked = CheckArguments(); !checked) return std::unexpected(checked.error());
    for (const Point point : kExpansionOrder) {
      if (auto checked = CheckExplicit(point); !checked) return std::unexpected(checked.error());
    }
    for (const Point point : kExpansionOrder) {
      if (auto expanded = Expand(point); !expanded) return std::unexpected(expanded.error());
    }
    if (auto checked = CheckCounts(); !checked) return std::unexpected(checked.error());
    if (auto weighed = Weigh(Point::kScore, "score plugins"); !weighed)
      return std::unexpected(weighed.error());
    if (auto weighed = Weigh(Point::kPlacementScore, "placement score plugins"); !weighed) {
      return std::unexpected(weighed.error());
    }
    return std::move(compiled_);
  }

  // What the lists of single points name wrongly, and what multiPoint names that does not exist.
  void ListProblems(const std::string& path, Problems& problems) const;

 private:
  // What is wrong with one entry of a point's own list, given those before it; empty if nothing.
  std::string EntryProblem(Point point, const PluginEntry& entry, std::set<std::string_view>& seen) const;
  base::Result<void> CheckArguments() const;
  base::Result<void> CheckExplicit(Point point) const;
  base::Result<void> Expand(Point point);
  base::Result<void> CheckCounts() const;
  base::Result<void> Weigh(Point point, std::string_view what);

  const Profile& profile_;
  const Plugins& plugins_;
  const PluginCatalog& catalog_;
  const framework::Features& features_;
  CompiledProfile compiled_;
};

std::string DoesNotExist(Point point, std::string_view name) {
  return fmt::format("{} {} does not exist", InterfaceName(point), base::QuoteGo(name));
}

std::string AlreadyRegistered(Point point, std::string_view name) {
  return fmt::format("plugin {} already registered as \"{}\"", base::QuoteGo(name), InterfaceName(point));
}

// Validate has looked at all others.
base::Result<void> ProfileCompiler::CheckArguments() const {
  const Names needed = NeededPlugins(plugins_);
  for (const PluginConfig& config : profile_.plugin_config) {
    if (config.name != "NodeResourcesFit" || !needed.contains(config.name)) continue;
    FieldProblems problems;
    ValidateArguments(config.typed, api::FieldPath(), features_, problems);
    if (!problems.empty()) {
      return base::Fail(
          fmt::format("initializing plugin \"{}\": {}", config.name, Aggregate(problems.list())));
    }
  }
  return {};
}

base::Result<void> ProfileCompiler::CheckExplicit(Point point) const {
  std::set<std::string_view> seen;
  for (const PluginEntry& entry : plugins_.at(point).enabled) {
    if (std::string problem = EntryProblem(point, entry, seen); !problem.empty()) {
      return base::Fail(std::move(problem));
    }
  }
  return {};
}

std::string ProfileCompiler::EntryProblem(Point point, const PluginEntry& entry,
                                          std::set<std::string_view>& seen) const {
  if (!catalog_.Contains(entry.name)) return DoesNotExist(point, entry.name);
  if (!catalog_.Extends(entry.name, point)) {
    return fmt::format("plugin {} does not extend {} plugin", base::QuoteGo(entry.name),
                       InterfaceName(point));
  }
  if (!seen.insert(entry.name).second) return AlreadyRegistered(point, entry.name);
  return "";
}

void ProfileCompiler::ListProblems(const std::string& path, Problems& problems) const {
  for (const Point point : kExpansionOrder) {
    const std::vector<PluginEntry>& enabled = plugins_.at(point).enabled;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < enabled.size(); ++i) {
      std::string problem = EntryProblem(point, enabled[i], seen);
      if (problem.empty()) continue;
      problems.push_back(
          {fmt::format("{}.{}.enabled[{}]", path, kPointNames[Index(point)], i), std::move(problem)});
    }
  }
  const auto looks_there = [&](Point point) { return !Contains(plugins_.at(point).disabled, "*"); };
  const auto first = std::ranges::find_if(kExpansionOrder, looks_there);
  if (first == kExpansionOrder.end()) return;
  // Among the defaults an entry is not where the file has it.
  for (const PluginEntry& entry : plugins_.at(Point::kMultiPoint).enabled) {
    if (!catalog_.Contains(entry.name)) {
      problems.push_back({path + ".multiPoint.enabled", DoesNotExist(*first, entry.name)});
    }
  }
}

// Entries of the point that multiPoint has too come first, then the rest of multiPoint, then other entries.
base::Result<void> ProfileCompiler::Expand(Point point) {
  const PluginSet& own = plugins_.at(point);
  std::vector<PluginEntry>& out = compiled_.plugins[Index(point)];
  if (Contains(own.disabled, "*")) {
    for (const PluginEntry& entry : own.enabled) out.push_back({entry.name, 0});
    return {};
  }
  std::set<std::string_view> overrides;
  std::vector<PluginEntry> everywhere;
  for (const PluginEntry& entry : plugins_.at(Point::kMultiPoint).enabled) {
    if (!catalog_.Contains(entry.name)) return base::Fail(DoesNotExist(point, entry.name));
    if (!catalog_.Extends(entry.name, point) || Contains(own.disabled, entry.name)) continue;
    if (Contains(own.enabled, entry.name)) {
      overrides.insert(entry.name);
    } else if (Contains(everywhere, entry.name)) {
      return base::Fail(AlreadyRegistered(point, entry.name));
    } else {
      everywhere.push_back({entry.name, 0});
    }
  }
  for (const PluginEntry& entry : own.enabled) {
    if (overrides.contains(entry.name)) out.push_back({entry.name, 0});
  }
  out.insert(out.end(), everywhere.begin(), everywhere.end());
  for (const PluginEntry& entry : own.enabled) {
    if (!overrides.contains(entry.name)) out.push_back({entry.name, 0});
  }
  return {};
}

base::Result<void> ProfileCompiler::CheckCounts() const {
  const std::string name = base::QuoteGo(compiled_.scheduler_name);
  if (const std::size_t sorts = compiled_.at(Point::kQueueSort).size(); sorts != 1) {
    return base::Fail(fmt::format(
        "only one queue sort plugin required for profile with scheduler name {}, but got {}", name, sorts));
  }
  if (compiled_.at(Point::kBind).empty()) {
    return base::Fail(
        fmt::format("at least one bind plugin is needed for profile with scheduler name {}", name));
  }
  if (compiled_.at(Point::kPlacementGenerate).size() > 1) {
    return base::Fail(fmt::format(
        "at most one placement generate plugin is allowed for profile with scheduler name {}", name));
  }
  return {};
}

base::Result<void> ProfileCompiler::Weigh(Point point, std::string_view what) {
  std::map<std::string_view, std::int32_t> weights;
  std::int64_t total = 0;
  for (const PluginSet* set : {&plugins_.at(point), &plugins_.at(Point::kMultiPoint)}) {
    for (const PluginEntry& entry : set->enabled) {
      if (!catalog_.Extends(entry.name, point)) continue;
      const std::int32_t weight = entry.weight == 0 ? 1 : entry.weight;
      if (!weights.emplace(entry.name, weight).second) continue;
      // Weights have 32 bits: only a sum that is negative already can fail.
      if (total < 0) return base::Fail(fmt::format("{}: total score of Score plugins could overflow", what));
      total += weight * kNodeScoreMax;
    }
  }
  for (PluginEntry& entry : compiled_.plugins[Index(point)]) entry.weight = weights.at(entry.name);
  return {};
}

// All profiles share one queue, so they must agree on its order.
class QueueSortCheck {
 public:
  base::Result<void> Add(const Profile& profile, const CompiledProfile& compiled) {
    const std::string& name = compiled.at(Point::kQueueSort).front().name;
    RawValue args;
    const auto config = std::ranges::find(profile.plugin_config, name, &PluginConfig::name);
    if (config != profile.plugin_config.end()) args = config->args;
    if (!first_name_) {
      first_name_ = name;
      first_args_ = args;
    }
    if (*first_name_ != name) {
      return base::Fail(fmt::format("different queue sort plugins for profile {}: {}, first: {}",
                                    base::QuoteGo(compiled.scheduler_name), base::QuoteGo(name),
                                    base::QuoteGo(*first_name_)));
    }
    if (first_args_ != args) {
      return base::Fail(fmt::format("different queue sort plugin args for profile {}",
                                    base::QuoteGo(compiled.scheduler_name)));
    }
    return {};
  }

 private:
  std::optional<std::string> first_name_;
  RawValue first_args_;
};

void KeepNeededArguments(Profile& profile) {
  const Names needed = NeededPlugins(*profile.plugins);
  std::erase_if(profile.plugin_config, [&](const PluginConfig& config) {
    const auto* const raw = std::get_if<RawValue>(&config.typed);
    return !needed.contains(config.name) || (raw != nullptr && !raw->node);
  });
  std::ranges::stable_sort(profile.plugin_config, {}, &PluginConfig::name);
}

}  // namespace

base::Result<Compiled> Compile(Configuration configuration, const PluginCatalog& catalog,
                               const framework::Features& features) {
  Compiled compiled;
  if (const auto prepared = PrepareExtenders(configuration); !prepared) {
    return base::Fail("couldn't build extenders: " + prepared.error().message);
  }
  QueueSortCheck queue_sort;
  for (Profile& profile : configuration.profiles) {
    auto made = ProfileCompiler(profile, catalog, features).Run();
    if (!made) {
      return base::Fail(fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                                    profile.scheduler_name.value_or(""), made.error().message));
    }
    if (const auto same = queue_sort.Add(profile, *made); !same) {
      return base::Fail("initializing profiles: " + same.error().message);
    }
    compiled.profiles.push_back(*std::move(made));
    KeepNeededArguments(profile);
  }
  compiled.configuration = std::move(configuration);
  return compiled;
}

Problems CompileProblems(const Configuration& configuration, const PluginCatalog& catalog,
                         const framework::Features& features) {
  Problems problems;
  Configuration prepared = configuration;
  if (const auto built = PrepareExtenders(prepared); !built) {
    problems.push_back({"extenders", "couldn't build extenders: " + built.error().message});
  }
  for (std::size_t i = 0; i < configuration.profiles.size(); ++i) {
    const Profile& profile = configuration.profiles[i];
    const std::string path = fmt::format("profiles[{}]", i);
    const std::size_t before = problems.size();
    for (std::size_t j = 0; j < profile.plugin_config.size(); ++j) {
      if (profile.plugin_config[j].name != "NodeResourcesFit") continue;
      FieldProblems wrong;
      const api::FieldPath args(fmt::format("{}.pluginConfig[{}].args", path, j));
      ValidateArguments(profile.plugin_config[j].typed, args, features, wrong);
      problems.insert(problems.end(), wrong.list().begin(), wrong.list().end());
    }
    ProfileCompiler compiler(profile, catalog, features);
    compiler.ListProblems(path + ".plugins", problems);
    if (problems.size() != before) continue;
    if (auto made = compiler.Run(); !made) problems.push_back({path + ".plugins", made.error().message});
  }
  if (!problems.empty()) return problems;
  if (const auto compiled = Compile(configuration, catalog, features); !compiled) {
    problems.push_back({"profiles", compiled.error().message});
  }
  return problems;
}

}  // namespace berth::config
