#include "queue/event_map.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.h"

namespace berth::queue {

PluginId PluginNames::Intern(std::string_view name) {
  if (const auto found = Find(name)) return *found;
  BERTH_CHECK(names_.size() < kPluginsMax);
  names_.emplace_back(name);
  return static_cast<PluginId>(names_.size() - 1);
}

// Called where a plugin is named by text: at start, and by whoever reports a rejection from outside.
std::optional<PluginId> PluginNames::Find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<PluginId>(found - names_.begin());
}

base::Result<std::unique_ptr<EventMap>> EventMap::Make(std::vector<QueueProfile> profiles,
                                                       QueueMetrics& metrics) {
  std::vector<std::string_view> names;
  for (const QueueProfile& profile : profiles) {
    for (const auto& events : profile.events) names.push_back(events.plugin);
    for (const auto& pre_enqueue : profile.pre_enqueue) names.push_back(pre_enqueue.plugin);
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  if (names.size() > kPluginsMax) {
    return base::Fail(
        fmt::format("{} plugins are enabled; at most {} are possible", names.size(), kPluginsMax));
  }
  std::unique_ptr<EventMap> map(new EventMap(std::move(profiles), metrics));
  map->Number();
  return map;
}

void EventMap::Number() {
  for (QueueProfile& profile : profiles_) {
    std::vector<PluginId>& ids = pre_enqueue_ids_.emplace_back();
    for (const auto& pre_enqueue : profile.pre_enqueue) ids.push_back(plugins_.Intern(pre_enqueue.plugin));
    std::vector<Registration>& registrations = registrations_.emplace_back();
    for (QueueProfile::Events& events : profile.events) {
      const PluginId plugin = plugins_.Intern(events.plugin);
      for (auto& wish : framework::Expand(std::move(events.registrations))) {
        registrations.push_back({plugin, std::move(wish)});
      }
      events.registrations.clear();
    }
  }
}

ProfileIndex EventMap::FindProfile(std::string_view scheduler_name) const {
  const auto found = std::ranges::find(profiles_, scheduler_name, &QueueProfile::scheduler_name);
  return found == profiles_.end() ? kNoProfile : static_cast<ProfileIndex>(found - profiles_.begin());
}

const MatchedEvent& EventMap::Match(const framework::ClusterEvent& event) {
  if (!event.custom_label.empty()) {
    const auto found = std::ranges::find(labelled_, event, [](const auto& match) { return match->event; });
    if (found != labelled_.end()) return **found;
    return *labelled_.emplace_back(MakeMatch(event));
  }
  const std::uint64_t key = static_cast<std::uint64_t>(event.resource) << 32 | event.actions;
  std::unique_ptr<MatchedEvent>& match = matches_[key];
  if (!match) match = MakeMatch(event);
  return *match;
}

std::unique_ptr<MatchedEvent> EventMap::MakeMatch(const framework::ClusterEvent& event) {
  auto match = std::make_unique<MatchedEvent>();
  match->event = event;
  match->wildcard = event.IsWildcard();
  match->label = &metrics_.Label(event.Label());
  if (!event.custom_label.empty()) match->event.custom_label = match->label->text;
  for (const std::vector<Registration>& registrations : registrations_) {
    std::vector<MatchedWish>& matching = match->by_profile.emplace_back();
    PluginSet& plugins = match->plugins_by_profile.emplace_back();
    for (const Registration& registration : registrations) {
      if (!framework::Matches(registration.wish.event, event)) continue;
      matching.push_back({&registration, metrics_.HintsOf(plugins_.Get(registration.plugin), *match->label)});
      plugins.Insert(registration.plugin);
      match->has_pre_hints |= registration.wish.pre_hint != nullptr;
    }
    match->plugins = match->plugins | plugins;
  }
  match->of_interest = match->wildcard || !match->plugins.empty();
  return match;
}

}  // namespace berth::queue
