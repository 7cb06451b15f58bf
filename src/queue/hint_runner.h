#pragma once

#include "base/clock.h"
#include "cluster/cluster.h"
#include "queue/event_map.h"
#include "queue/in_flight.h"
#include "queue/item_store.h"

namespace berth::queue {

// What an event does to an entity; the better one wins.
enum class Strategy : std::uint8_t { kSkip, kAfterBackoff, kImmediately };

// Asks plugins whether an event may help a pod that they rejected. Changes nothing but metrics.
class HintRunner {
 public:
  HintRunner(const cluster::Cluster& cluster, EventMap& events, QueueMetrics& metrics,
             const base::Clock& clock)
      : cluster_(cluster), events_(events), metrics_(metrics), clock_(clock) {}

  // Only hints of `allowed` plugins run.
  Strategy Judge(const Item& pod, const MatchedEvent& matched, const EventObjects& objects,
                 const PluginSet& allowed) const;

  // Whether the event gives the same answer for every pod of the template: no hint that Judge would run looks
  // at more.
  bool IsJudgedByTemplate(ProfileIndex profile, const PluginSet& rejectors,
                          const MatchedEvent& matched) const;

  // Calls all pre-hints of the event; visit(plugin, result) gets the lists. Gives the plugins that must look
  // at all pods.
  template <class F>
  PluginSet RunPreHints(const MatchedEvent& matched, const EventObjects& objects, F&& visit) const {
    PluginSet wide;
    for (const auto& registrations : matched.by_profile) {
      for (const auto& [registration, series] : registrations) {
        const base::Result<framework::PreHint> result = RunPreHint(*registration, objects);
        if (!result || result->all_pods) {
          wide.Insert(registration->plugin);
        } else {
          visit(registration->plugin, *result);
        }
      }
    }
    return wide;
  }

 private:
  bool SaysQueue(const MatchedWish& wish, const Item& pod, const MatchedEvent& matched,
                 const EventObjects& objects) const;
  base::Result<framework::PreHint> RunPreHint(const Registration& registration,
                                              const EventObjects& objects) const;

  const cluster::Cluster& cluster_;
  EventMap& events_;
  QueueMetrics& metrics_;
  const base::Clock& clock_;
};

}  // namespace berth::queue
