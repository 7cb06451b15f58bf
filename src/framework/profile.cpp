#include "framework/profile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fmt/format.h"

namespace berth::framework {
namespace {

// As upstream calls the interfaces in its messages, without "Plugin".
constexpr std::array<std::string_view, kExtensionPointCount> kPointNames = {
    "PreEnqueue", "QueueSort", "PreFilter", "Filter",  "PostFilter", "PreScore",
    "Score",      "Reserve",   "Permit",    "PreBind", "Bind",       "PostBind"};

template <class Point>
const Point* As(const Plugin& plugin) {
  return dynamic_cast<const Point*>(&plugin);
}

bool Implements(const Plugin& plugin, ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreEnqueue:
      return As<PreEnqueuePoint>(plugin) != nullptr;
    case ExtensionPoint::kQueueSort:
      return As<QueueSortPoint>(plugin) != nullptr;
    case ExtensionPoint::kPreFilter:
      return As<PreFilterPoint>(plugin) != nullptr;
    case ExtensionPoint::kFilter:
      return As<FilterPoint>(plugin) != nullptr;
    case ExtensionPoint::kPostFilter:
      return As<PostFilterPoint>(plugin) != nullptr;
    case ExtensionPoint::kPreScore:
    case ExtensionPoint::kScore:
      return As<ScorePoint>(plugin) != nullptr;
    case ExtensionPoint::kReserve:
      return As<ReservePoint>(plugin) != nullptr;
    case ExtensionPoint::kPermit:
      return As<PermitPoint>(plugin) != nullptr;
    case ExtensionPoint::kPreBind:
      return As<PreBindPoint>(plugin) != nullptr;
    case ExtensionPoint::kBind:
      return As<BindPoint>(plugin) != nullptr;
    case ExtensionPoint::kPostBind:
      return As<PostBindPoint>(plugin) != nullptr;
  }
  return false;
}

std::span<const EnabledPlugin> EnabledAt(const ProfileConfig& config, ExtensionPoint point) {
  return config.enabled[static_cast<std::size_t>(point)];
}

bool IsEnabledAt(const ProfileConfig& config, ExtensionPoint point, std::string_view name) {
  return std::ranges::find(EnabledAt(config, point), name, &EnabledPlugin::name) !=
         EnabledAt(config, point).end();
}

bool IsEnabledAtAny(const ProfileConfig& config, std::initializer_list<ExtensionPoint> points,
                    std::string_view name) {
  return std::ranges::any_of(points, [&](ExtensionPoint point) { return IsEnabledAt(config, point, name); });
}

// The names in the order of their numbers: of Filter first, so that of two refusals the one with the smaller
// number was met first.
std::vector<std::string_view> NumberedNames(const ProfileConfig& config) {
  std::vector<std::string_view> names;
  const auto add = [&](ExtensionPoint point) {
    for (const EnabledPlugin& enabled : EnabledAt(config, point)) {
      if (std::ranges::find(names, enabled.name) == names.end()) names.push_back(enabled.name);
    }
  };
  add(ExtensionPoint::kFilter);
  for (std::size_t point = 0; point < kExtensionPointCount; ++point) add(static_cast<ExtensionPoint>(point));
  return names;
}

using MadePlugins = std::vector<std::unique_ptr<Plugin>>;

const Plugin* FindPlugin(const MadePlugins& plugins, std::string_view name) {
  const auto found = std::ranges::find(plugins, name, [](const auto& plugin) { return plugin->Name(); });
  return found == plugins.end() ? nullptr : found->get();
}

base::Result<void> CheckEnabled(const ProfileConfig& config, const MadePlugins& plugins) {
  for (std::size_t i = 0; i < kExtensionPointCount; ++i) {
    const auto point = static_cast<ExtensionPoint>(i);
    const std::span<const EnabledPlugin> enabled = EnabledAt(config, point);
    for (std::size_t n = 0; n < enabled.size(); ++n) {
      const std::string& name = enabled[n].name;
      if (!Implements(*FindPlugin(plugins, name), point)) {
        return base::Fail(fmt::format("plugin \"{}\" does not extend {}Plugin plugin", name, kPointNames[i]));
      }
      if (std::ranges::find(enabled.first(n), name, &EnabledPlugin::name) != enabled.first(n).end()) {
        return base::Fail(
            fmt::format("plugin \"{}\" already registered as \"{}Plugin\"", name, kPointNames[i]));
      }
    }
  }
  return {};
}

base::Result<void> CheckWeights(const ProfileConfig& config) {
  std::int64_t total = 0;
  for (const EnabledPlugin& enabled : EnabledAt(config, ExtensionPoint::kScore)) {
    std::int64_t most = 0;
    if (__builtin_mul_overflow(enabled.weight, kScoreMax, &most) ||
        __builtin_add_overflow(total, most, &total)) {
      return base::Fail("score plugins: total score of Score plugins could overflow");
    }
  }
  return {};
}

template <class Point>
std::vector<Placed<Point>> Place(const ProfileConfig& config, const MadePlugins& plugins,
                                 ExtensionPoint point) {
  std::vector<Placed<Point>> placed;
  for (const EnabledPlugin& enabled : EnabledAt(config, point)) {
    const Plugin* const plugin = FindPlugin(plugins, enabled.name);
    placed.push_back({plugin, As<Point>(*plugin)});
  }
  return placed;
}

std::vector<PlacedScore> PlaceScores(const ProfileConfig& config, const MadePlugins& plugins) {
  std::vector<PlacedScore> placed;
  for (const EnabledPlugin& enabled : EnabledAt(config, ExtensionPoint::kScore)) {
    const Plugin* const plugin = FindPlugin(plugins, enabled.name);
    placed.push_back({{plugin, As<ScorePoint>(*plugin)},
                      enabled.weight == 0 ? 1 : enabled.weight,
                      IsEnabledAt(config, ExtensionPoint::kPreScore, enabled.name)});
  }
  return placed;
}

// Plugins that have the point and are enabled at one of those that make it matter.
template <class Point>
std::vector<Placed<Point>> PlaceBeside(const ProfileConfig& config, const MadePlugins& plugins,
                                       std::initializer_list<ExtensionPoint> beside) {
  std::vector<Placed<Point>> placed;
  for (const auto& plugin : plugins) {
    const Point* const point = As<Point>(*plugin);
    if (point != nullptr && IsEnabledAtAny(config, beside, plugin->Name())) {
      placed.push_back({plugin.get(), point});
    }
  }
  return placed;
}

constexpr std::initializer_list<ExtensionPoint> kDecisionPoints = {
    ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kPreScore, ExtensionPoint::kScore};
constexpr std::initializer_list<ExtensionPoint> kRejectingPoints = {
    ExtensionPoint::kPreEnqueue, ExtensionPoint::kPreFilter, ExtensionPoint::kFilter,
    ExtensionPoint::kReserve, ExtensionPoint::kPermit};

}  // namespace

base::Result<ProfileConfig> ExpandEverywhere(std::span<const EnabledPlugin> plugins, const Registry& registry,
                                             const PluginSetup& setup) {
  // Made only to be looked at, so they must not reach the real cluster: a plugin may add an index to it.
  cluster::Cluster elsewhere({.resources = {}, .change_log_capacity = 1});
  const PluginSetup aside{setup.features, setup.args, elsewhere};
  ProfileConfig config;
  config.args = setup.args;
  for (const EnabledPlugin& enabled : plugins) {
    const auto plugin = registry.Make(enabled.name, aside);
    if (!plugin) return std::unexpected(plugin.error());
    for (std::size_t point = 0; point < kExtensionPointCount; ++point) {
      if (Implements(**plugin, static_cast<ExtensionPoint>(point))) config.enabled[point].push_back(enabled);
    }
  }
  return config;
}

base::Result<std::unique_ptr<const Profile>> Profile::Make(const ProfileConfig& config,
                                                           const Registry& registry, const PluginSetup& setup,
                                                           RejectionTable& table) {
  std::unique_ptr<Profile> profile(new Profile(config, setup.features));
  for (const std::string_view name : NumberedNames(config)) {
    if (!registry.Contains(name)) return base::Fail(fmt::format("plugin \"{}\" does not exist", name));
    auto plugin = registry.Make(name, setup);
    if (!plugin)
      return base::Fail(fmt::format("initializing plugin \"{}\": {}", name, plugin.error().message));
    profile->plugins_.push_back(*std::move(plugin));
  }
  if (const auto checked = CheckEnabled(config, profile->plugins_); !checked) {
    return std::unexpected(checked.error());
  }
  if (const auto checked = CheckWeights(config); !checked) return std::unexpected(checked.error());

  for (std::size_t i = 0; i < profile->plugins_.size(); ++i) {
    Plugin& plugin = *profile->plugins_[i];
    const auto index = static_cast<PluginIndex>(i);
    plugin.SetIndex(index);
    profile->names_.push_back(plugin.Name());
    profile->fixed_.push_back({table.AddFixed(index, plugin.Reasons()), plugin.Reasons().size()});
  }
  profile->names_.push_back("Extender");
  profile->PlaceAll();
  return std::unique_ptr<const Profile>(std::move(profile));
}

void Profile::PlaceAll() {
  using enum ExtensionPoint;
  pre_enqueue_ = Place<PreEnqueuePoint>(config_, plugins_, kPreEnqueue);
  if (const auto sorts = Place<QueueSortPoint>(config_, plugins_, kQueueSort); !sorts.empty()) {
    queue_sort_ = sorts.front().point;
  }
  stateful_ = PlaceBeside<StatefulPoint>(config_, plugins_, kDecisionPoints);
  pre_filter_ = Place<PreFilterPoint>(config_, plugins_, kPreFilter);
  filter_ = Place<FilterPoint>(config_, plugins_, kFilter);
  post_filter_ = Place<PostFilterPoint>(config_, plugins_, kPostFilter);
  score_ = PlaceScores(config_, plugins_);
  reserve_ = Place<ReservePoint>(config_, plugins_, kReserve);
  permit_ = Place<PermitPoint>(config_, plugins_, kPermit);
  pre_bind_ = Place<PreBindPoint>(config_, plugins_, kPreBind);
  bind_ = Place<BindPoint>(config_, plugins_, kBind);
  post_bind_ = Place<PostBindPoint>(config_, plugins_, kPostBind);
  enqueue_ = PlaceBeside<EnqueuePoint>(config_, plugins_, kRejectingPoints);

  const auto can_sign = [&](const std::unique_ptr<Plugin>& plugin) {
    return As<SignPoint>(*plugin) != nullptr || !IsEnabledAtAny(config_, kDecisionPoints, plugin->Name());
  };
  if (std::ranges::all_of(plugins_, can_sign)) {
    sign_ = PlaceBeside<SignPoint>(config_, plugins_, kDecisionPoints);
  }
}

base::Result<void> Profile::CheckRunnable() const {
  const std::size_t sorts = EnabledAt(config_, ExtensionPoint::kQueueSort).size();
  if (sorts != 1) {
    return base::Fail(
        fmt::format("only one queue sort plugin required for profile with scheduler name \"{}\", but got {}",
                    config_.scheduler_name, sorts));
  }
  if (bind_.empty()) {
    return base::Fail(fmt::format("at least one bind plugin is needed for profile with scheduler name \"{}\"",
                                  config_.scheduler_name));
  }
  return {};
}

}  // namespace berth::framework
