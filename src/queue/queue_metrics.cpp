#include "queue/queue_metrics.h"

namespace berth::queue {
namespace {

constexpr std::string_view kPendingNames[] = {"active", "backoff",    "unschedulable",
                                              "gated",  "incomplete", "pending"};
constexpr std::string_view kArrivalNames[] = {"unschedulable", "backoff", "active"};
constexpr std::string_view kTypeNames[] = {"pod", "podgroup"};
constexpr std::string_view kHintNames[] = {"Queue", "QueueSkip", "Error"};
// Groups that have no place in a queue of entities are only counted by their pods.
constexpr std::size_t kEntityQueues = 4;

// Joins parts that come from configurations: none of them can contain a zero byte.
void Join(std::string& key, std::initializer_list<std::string_view> parts) {
  key.clear();
  for (const std::string_view part : parts) key.append(part).push_back('\0');
}

}  // namespace

QueueMetrics::QueueMetrics(base::MetricRegistry& registry)
    : pending_pods_(registry.AddGauges({.name = "scheduler_pending_pods",
                                        .help = "Number of pods that wait, by where they wait.",
                                        .stability = base::Stability::kStable,
                                        .labels = {"queue"}})),
      queued_entities_(registry.AddGauges({.name = "scheduler_queued_entities",
                                           .help = "Number of pods and pod groups that are queued, by queue.",
                                           .labels = {"queue", "type"}})),
      incoming_pods_(registry.AddCounters({.name = "scheduler_queue_incoming_pods_total",
                                           .help = "Number of pods added to queues, by event and queue.",
                                           .stability = base::Stability::kStable,
                                           .labels = {"queue", "event"}})),
      incoming_entities_(
          registry.AddCounters({.name = "scheduler_queue_incoming_entities_total",
                                .help = "Number of pods and pod groups added to queues, by event and queue.",
                                .labels = {"queue", "event", "type"}})),
      in_flight_events_(registry.AddGauges({.name = "scheduler_inflight_events",
                                            .help = "Number of events kept for pods that are being tried.",
                                            .labels = {"event"}})),
      unschedulable_pods_(registry.AddGauges({.name = "scheduler_unschedulable_pods",
                                              .help = "Number of waiting pods that a plugin rejected.",
                                              .stability = base::Stability::kBeta,
                                              .labels = {"plugin", "profile"}})),
      hint_duration_(registry.AddHistograms({.name = "scheduler_queueing_hint_execution_duration_seconds",
                                             .help = "How long queueing hints of plugins took.",
                                             .labels = {"plugin", "event", "hint"},
                                             .buckets = base::ExponentialBuckets(0.00001, 1.5, 20)})),
      pre_hints_(registry.AddCounters({.name = "scheduler_pre_queueing_hint_evaluations_total",
                                       .help = "Number of calls of pre-queueing hints, by result.",
                                       .labels = {"plugin", "result"}})) {
  for (std::size_t queue = 0; queue < pending_.size(); ++queue) {
    pending_[queue] = pending_pods_.With({kPendingNames[queue]});
    pending_[queue]->Set(0);
  }
  for (std::size_t queue = 0; queue < kEntityQueues; ++queue) {
    for (std::size_t type = 0; type < 2; ++type) {
      queued_[queue][type] = queued_entities_.With({kPendingNames[queue], kTypeNames[type]});
    }
  }
}

EventLabel& QueueMetrics::Label(std::string_view text) {
  const auto found = label_by_text_.find(text);
  if (found != label_by_text_.end()) return *found->second;
  EventLabel& label = labels_.emplace_back(EventLabel{.text = std::string(text)});
  label_by_text_.emplace(text, &label);
  return label;
}

void QueueMetrics::AddPending(PendingQueue queue, const Entity& entity, int sign) {
  const auto index = static_cast<std::size_t>(queue);
  pending_[index]->Add(sign * static_cast<double>(entity.pods));
  if (index < kEntityQueues) queued_[index][entity.is_group]->Add(sign);
}

void QueueMetrics::CountArrival(EventLabel& label, const ArrivalOf& arrival) {
  const auto where = static_cast<std::size_t>(arrival.where);
  auto& pods = label.pods[where];
  if (!pods) pods = incoming_pods_.With({kArrivalNames[where], label.text});
  pods->Add(static_cast<double>(arrival.entity.pods));
  if (!arrival.counts_as_entity) return;
  auto& entities = label.entities[where][arrival.entity.is_group];
  if (!entities) {
    entities =
        incoming_entities_.With({kArrivalNames[where], label.text, kTypeNames[arrival.entity.is_group]});
  }
  entities->Increment();
}

void QueueMetrics::AddInFlight(EventLabel& label, int sign) {
  if (!label.in_flight) label.in_flight = in_flight_events_.With({label.text});
  label.in_flight->Add(sign);
}

void QueueMetrics::AddUnschedulable(std::string_view plugin, std::string_view scheduler_name, int sign) {
  Join(scratch_, {plugin, scheduler_name});
  auto found = unschedulable_.find(scratch_);
  if (found == unschedulable_.end()) {
    found = unschedulable_.emplace(scratch_, unschedulable_pods_.With({plugin, scheduler_name})).first;
  }
  found->second->Add(sign);
}

void QueueMetrics::ObserveHint(HintSeries& series, HintOutcome outcome, double seconds) {
  const auto index = static_cast<std::size_t>(outcome);
  auto& histogram = series.by_outcome[index];
  if (!histogram) histogram = hint_duration_.With({series.plugin, series.event, kHintNames[index]});
  histogram->Observe(seconds);
}

void QueueMetrics::CountPreHint(const PreHintOf& of, bool narrowed) {
  const auto plugin = static_cast<std::size_t>(of.plugin);
  if (plugin >= pre_hint_counts_.size()) pre_hint_counts_.resize(plugin + 1);
  auto& count = pre_hint_counts_[plugin][narrowed];
  if (!count) count = pre_hints_.With({of.name, narrowed ? "narrowed" : "all_pods"});
  count->Increment();
}

}  // namespace berth::queue
