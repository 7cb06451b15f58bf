#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "framework/events.h"
#include "queue/plugin_set.h"
#include "queue/queue_metrics.h"
#include "queue/queue_profile.h"

namespace berth::queue {

// Names of plugins, numbered as they come.
class PluginNames {
 public:
  // Aborts when a plugin beyond kPluginsMax comes: EventMap::Make has counted those of the configuration.
  PluginId Intern(std::string_view name);
  std::optional<PluginId> Find(std::string_view name) const;
  std::string_view Get(PluginId plugin) const { return names_[static_cast<std::size_t>(plugin)]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // series hold views of them
};

// One plugin's wish to hear of an event.
struct Registration {
  PluginId plugin;
  framework::EventRegistration wish;
};

// The same, of an event that came.
struct MatchedWish {
  const Registration* registration;
  mutable HintSeries series;
};

// What an event means to the plugins of every profile.
struct MatchedEvent {
  framework::ClusterEvent event;
  bool wildcard = false;
  bool of_interest = false;
  EventLabel* label = nullptr;
  std::vector<std::vector<MatchedWish>> by_profile;  // in plugin order
  // The same as sets, over all profiles. Also the plugins whose gated pods the event may open.
  PluginSet plugins;
  std::vector<PluginSet> plugins_by_profile;
  bool has_pre_hints = false;
};

using ProfileIndex = std::uint16_t;
inline constexpr ProfileIndex kNoProfile = 0xffff;

// Who wants to hear of which event. Each kind of event is matched once, when it is first met.
class EventMap {
 public:
  // Fails when there are more plugins than a PluginSet can hold.
  static base::Result<std::unique_ptr<EventMap>> Make(std::vector<QueueProfile> profiles,
                                                      QueueMetrics& metrics);

  ProfileIndex FindProfile(std::string_view scheduler_name) const;
  const QueueProfile& profile(ProfileIndex index) const { return profiles_[index]; }
  std::size_t profile_count() const { return profiles_.size(); }
  PluginNames& plugins() { return plugins_; }
  const PluginNames& plugins() const { return plugins_; }
  std::span<const PluginId> pre_enqueue_ids(ProfileIndex index) const { return pre_enqueue_ids_[index]; }

  // Good for the life of the map.
  const MatchedEvent& Match(const framework::ClusterEvent& event);

 private:
  EventMap(std::vector<QueueProfile> profiles, QueueMetrics& metrics)
      : profiles_(std::move(profiles)), metrics_(metrics) {}
  void Number();
  std::unique_ptr<MatchedEvent> MakeMatch(const framework::ClusterEvent& event);

  std::vector<QueueProfile> profiles_;
  QueueMetrics& metrics_;
  PluginNames plugins_;
  std::vector<std::vector<PluginId>> pre_enqueue_ids_;                         // by profile
  std::vector<std::vector<Registration>> registrations_;                       // by profile
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<MatchedEvent>> matches_;  // without label of their own
  std::vector<std::unique_ptr<MatchedEvent>> labelled_;
};

}  // namespace berth::queue
