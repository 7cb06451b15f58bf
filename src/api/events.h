#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.h"
#include "api/object_reference.h"
#include "api/time.h"

// Events in both groups.
namespace berth::api {

struct EventSource {
  std::string component;
  std::string host;

  bool operator==(const EventSource&) const = default;
};

struct CoreEventSeries {
  std::int32_t count = 0;
  MicroTime last_observed_time;

  bool operator==(const CoreEventSeries&) const = default;
};

struct CoreEvent {
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  EventSource source;
  Time first_timestamp;
  Time last_timestamp;
  std::int32_t count = 0;
  std::string type;
  MicroTime event_time;
  std::optional<CoreEventSeries> series;
  std::string action;
  std::optional<ObjectReference> related;
  std::string reporting_component;
  std::string reporting_instance;

  bool operator==(const CoreEvent&) const = default;
};

struct EventSeries {
  std::int32_t count = 0;
  MicroTime last_observed_time;

  bool operator==(const EventSeries&) const = default;
};

struct Event {
  ObjectMeta metadata;
  MicroTime event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;

  bool operator==(const Event&) const = default;
};

}  // namespace berth::api
