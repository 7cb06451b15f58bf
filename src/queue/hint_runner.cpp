#include "queue/hint_runner.h"

#include <algorithm>

#include "base/log.h"

namespace berth::queue {
namespace {

bool IsAboutOtherObject(const EventObjects& objects, const api::PodRecord& pod) {
  if (objects.new_object.is_null()) return false;
  const auto* const named = std::get_if<const api::PodRecord*>(&objects.new_object.object);
  return named == nullptr || (*named)->uid != pod.uid;
}

}  // namespace

Strategy HintRunner::Judge(const Item& pod, const MatchedEvent& matched, const EventObjects& objects,
                           const PluginSet& allowed) const {
  const PluginSet rejectors = pod.params.rejectors();
  if (rejectors.empty()) return Strategy::kAfterBackoff;
  if (matched.wildcard) {
    return IsAboutOtherObject(objects, *pod.record) ? Strategy::kSkip : Strategy::kAfterBackoff;
  }
  if (pod.profile == kNoProfile) {
    BERTH_LOG_ERROR(nullptr, "No QueueingHintMap is registered for this profile",
                    {"profile", pod.record->spec->spec.scheduler_name},
                    {"pod", base::LogObject{pod.record->namespace_, pod.record->name}});
    return Strategy::kAfterBackoff;
  }
  const PluginSet asked = rejectors & allowed;
  if (!asked.Intersects(matched.plugins_by_profile[pod.profile])) return Strategy::kSkip;
  Strategy best = Strategy::kSkip;
  for (const MatchedWish& wish : matched.by_profile[pod.profile]) {
    const PluginId plugin = wish.registration->plugin;
    if (!asked.Contains(plugin) || !SaysQueue(wish, pod, matched, objects)) continue;
    if (pod.params.pending.Contains(plugin)) return Strategy::kImmediately;
    // A plugin that is still pending may do better.
    if (pod.params.pending.empty()) return Strategy::kAfterBackoff;
    best = Strategy::kAfterBackoff;
  }
  return best;
}

bool HintRunner::IsJudgedByTemplate(ProfileIndex profile, const PluginSet& rejectors,
                                    const MatchedEvent& matched) const {
  if (matched.wildcard || profile == kNoProfile) return false;
  return std::ranges::all_of(matched.by_profile[profile], [&](const MatchedWish& wish) {
    const Registration* registration = wish.registration;
    return !rejectors.Contains(registration->plugin) || !registration->wish.hint ||
           registration->wish.by_template;
  });
}

bool HintRunner::SaysQueue(const MatchedWish& matched_wish, const Item& pod, const MatchedEvent& matched,
                           const EventObjects& objects) const {
  const Registration& registration = *matched_wish.registration;
  if (!registration.wish.hint) return true;
  const base::TimePoint start = clock_.Now();
  const base::Result<framework::Hint> hint =
      registration.wish.hint({.cluster = cluster_,
                              .pod = pod.pod.id,
                              .old_object = objects.old_object.object,
                              .new_object = objects.new_object.object});
  const bool queue = !hint || *hint == framework::Hint::kQueue;
  const HintOutcome outcome = !hint   ? HintOutcome::kError
                              : queue ? HintOutcome::kQueue
                                      : HintOutcome::kQueueSkip;
  metrics_.ObserveHint(matched_wish.series, outcome,
                       std::chrono::duration<double>(clock_.Now() - start).count());
  if (!hint) {
    BERTH_LOG_ERROR(hint.error(), "QueueingHintFn returns error", {"event", matched.label->text},
                    {"plugin", matched_wish.series.plugin},
                    {"pod", base::LogObject{pod.record->namespace_, pod.record->name}});
  }
  return queue;
}

base::Result<framework::PreHint> HintRunner::RunPreHint(const Registration& registration,
                                                        const EventObjects& objects) const {
  if (!registration.wish.pre_hint) return framework::PreHint{.all_pods = true, .pods = {}};
  const std::string_view plugin = events_.plugins().Get(registration.plugin);
  base::Result<framework::PreHint> result =
      registration.wish.pre_hint({.cluster = cluster_,
                                  .old_object = objects.old_object.object,
                                  .new_object = objects.new_object.object});
  if (result) {
    metrics_.CountPreHint({registration.plugin, plugin}, !result->all_pods);
  } else {
    BERTH_LOG_ERROR(result.error(), "PreQueueingHintFn failed, falling back to evaluate all pods",
                    {"plugin", plugin});
  }
  return result;
}

}  // namespace berth::queue
