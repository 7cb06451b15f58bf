#include "queue/queue_profile.h"

#include <algorithm>
#include <utility>

namespace berth::queue {
namespace {

std::vector<framework::EventRegistration> Everything(const framework::Features& features) {
  std::vector<framework::EventRegistration> registrations;
  for (const framework::ClusterEvent& event : framework::AllEvents(features.generic_workload)) {
    registrations.push_back({.event = event});
  }
  return registrations;
}

template <class Point>
bool Has(std::span<const framework::Placed<Point>> placed, const framework::Plugin& plugin) {
  return std::ranges::any_of(placed, [&](const auto& at) { return at.plugin == &plugin; });
}

}  // namespace

QueueProfile::PreEnqueue MakePreEnqueue(std::string plugin, const framework::PreEnqueuePoint& point) {
  QueueProfile::PreEnqueue made{.plugin = std::move(plugin), .point = &point};
  made.report = dynamic_cast<const framework::ReportPoint*>(&point);
  if (made.report != nullptr) made.model = made.report->HowToReport();
  return made;
}

QueueProfile MakeQueueProfile(const framework::Profile& profile, bool has_extenders) {
  QueueProfile result{.scheduler_name = profile.scheduler_name()};
  for (const auto& placed : profile.pre_enqueue()) {
    result.pre_enqueue.push_back(MakePreEnqueue(std::string(placed.plugin->Name()), *placed.point));
  }
  if (has_extenders) result.events.push_back({"Extender", Everything(profile.features())});
  for (const auto& plugin : profile.plugins()) {
    const bool rejects = Has(profile.pre_enqueue(), *plugin) || Has(profile.pre_filter(), *plugin) ||
                         Has(profile.filter(), *plugin) || Has(profile.reserve(), *plugin) ||
                         Has(profile.permit(), *plugin);
    if (!rejects) continue;
    const auto& enqueue = profile.enqueue();
    const auto own = std::ranges::find_if(enqueue, [&](const auto& at) { return at.plugin == plugin.get(); });
    result.events.push_back({std::string(plugin->Name()), own == enqueue.end()
                                                              ? Everything(profile.features())
                                                              : own->point->EventsToRegister()});
  }
  return result;
}

}  // namespace berth::queue
