#pragma once

#include <string>
#include <vector>

#include "framework/events.h"
#include "framework/profile.h"
#include "framework/queue_points.h"
#include "framework/report_model.h"

namespace berth::queue {

// What the queue needs to know of the plugins of one scheduler name.
struct QueueProfile {
  struct PreEnqueue {
    std::string plugin;
    const framework::PreEnqueuePoint* point;         // outlives the queue
    const framework::ReportPoint* report = nullptr;  // the same; null: reports in the default way
    framework::ReportModel model = {};
  };
  struct Events {
    std::string plugin;
    std::vector<framework::EventRegistration> registrations;
  };

  std::string scheduler_name;
  std::vector<PreEnqueue> pre_enqueue = {};  // in the order in which they run
  std::vector<Events> events = {};           // in the order of the profile
};

// A PreEnqueue plugin with the way in which it wants its rejections told.
QueueProfile::PreEnqueue MakePreEnqueue(std::string plugin, const framework::PreEnqueuePoint& point);

// Asks every plugin that can reject a pod (PreEnqueue, PreFilter, Filter, Reserve, Permit) for its events.
// One without EnqueuePoint is woken by everything, and so are extenders, which come first.
QueueProfile MakeQueueProfile(const framework::Profile& profile, bool has_extenders);

}  // namespace berth::queue
