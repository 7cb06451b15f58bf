#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/interner.h"
#include "base/metrics.h"
#include "queue/plugin_set.h"

namespace berth::queue {

// Where pods wait, as the gauges tell them apart.
enum class PendingQueue : std::uint8_t { kActive, kBackoff, kUnschedulable, kGated, kIncomplete, kPending };
// Where an entity can arrive. The order is that of the requeueing strategies.
enum class Arrival : std::uint8_t { kUnschedulable, kBackoff, kActive };
enum class HintOutcome : std::uint8_t { kQueue, kQueueSkip, kError };

// The name of what moved an entity, with the series that count it. Lives as long as the metrics.
struct EventLabel {
  std::string text;
  std::array<std::shared_ptr<base::Counter>, 3> pods = {};                     // by Arrival
  std::array<std::array<std::shared_ptr<base::Counter>, 2>, 3> entities = {};  // by Arrival; pod, group
  std::shared_ptr<base::Gauge> in_flight = {};
};

// How long the hints of one plugin for one kind of event took. Lives as long as the metrics.
struct HintSeries {
  std::string_view plugin;
  std::string_view event;
  std::array<std::shared_ptr<base::Histogram>, 3> by_outcome = {};
};

// The queue's metrics. Series are looked up once: With() takes a lock.
class QueueMetrics {
 public:
  // Names in the registry must be free.
  explicit QueueMetrics(base::MetricRegistry& registry);

  EventLabel& Label(std::string_view text);

  struct Entity {
    std::size_t pods = 1;
    bool is_group = false;
  };
  void AddPending(PendingQueue queue, const Entity& entity, int sign);
  struct ArrivalOf {
    Arrival where;
    Entity entity;
    bool counts_as_entity = true;  // false: the move was no news
  };
  void CountArrival(EventLabel& label, const ArrivalOf& arrival);
  void AddInFlight(EventLabel& label, int sign);
  void AddUnschedulable(std::string_view plugin, std::string_view scheduler_name, int sign);
  // The names must outlive the series.
  HintSeries HintsOf(std::string_view plugin, const EventLabel& label) const { return {plugin, label.text}; }
  void ObserveHint(HintSeries& series, HintOutcome outcome, double seconds);
  struct PreHintOf {
    PluginId plugin;
    std::string_view name;
  };
  void CountPreHint(const PreHintOf& of, bool narrowed);

 private:
  base::GaugeFamily& pending_pods_;
  base::GaugeFamily& queued_entities_;
  base::CounterFamily& incoming_pods_;
  base::CounterFamily& incoming_entities_;
  base::GaugeFamily& in_flight_events_;
  base::GaugeFamily& unschedulable_pods_;
  base::HistogramFamily& hint_duration_;
  base::CounterFamily& pre_hints_;

  std::array<std::shared_ptr<base::Gauge>, 6> pending_;                // by PendingQueue
  std::array<std::array<std::shared_ptr<base::Gauge>, 2>, 4> queued_;  // by PendingQueue; pod, group
  std::deque<EventLabel> labels_;
  absl::flat_hash_map<std::string, EventLabel*, base::TextHash, std::equal_to<>> label_by_text_;
  // By plugin and profile.
  absl::flat_hash_map<std::string, std::shared_ptr<base::Gauge>, base::TextHash, std::equal_to<>>
      unschedulable_;
  std::vector<std::array<std::shared_ptr<base::Counter>, 2>>
      pre_hint_counts_;  // by PluginId; narrowed or not
  std::string scratch_;
};

}  // namespace berth::queue
