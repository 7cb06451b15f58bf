#pragma once

#include "api/events.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/object_reference.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::EventSource> {
  using T = api::EventSource;
  static constexpr std::string_view kMessage = "core.v1.EventSource";
  static constexpr auto kFields = std::tuple{Bound{"component", &T::component}, Bound{"host", &T::host}};
};

template <>
struct Binding<api::CoreEventSeries> {
  using T = api::CoreEventSeries;
  static constexpr std::string_view kMessage = "core.v1.EventSeries";
  static constexpr auto kFields =
      std::tuple{Bound{"count", &T::count}, Bound{"lastObservedTime", &T::last_observed_time}};
};

template <>
struct Binding<api::CoreEvent> {
  using T = api::CoreEvent;
  static constexpr std::string_view kMessage = "core.v1.Event";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata},
                                             Bound{"involvedObject", &T::involved_object},
                                             Bound{"reason", &T::reason},
                                             Bound{"message", &T::message},
                                             Bound{"source", &T::source},
                                             Bound{"firstTimestamp", &T::first_timestamp},
                                             Bound{"lastTimestamp", &T::last_timestamp},
                                             Bound{"count", &T::count},
                                             Bound{"type", &T::type},
                                             Bound{"eventTime", &T::event_time},
                                             Bound{"series", &T::series},
                                             Bound{"action", &T::action},
                                             Bound{"related", &T::related},
                                             Bound{"reportingComponent", &T::reporting_component},
                                             Bound{"reportingInstance", &T::reporting_instance}};
};

template <>
struct Binding<api::EventSeries> {
  using T = api::EventSeries;
  static constexpr std::string_view kMessage = "events.v1.EventSeries";
  static constexpr auto kFields =
      std::tuple{Bound{"count", &T::count}, Bound{"lastObservedTime", &T::last_observed_time}};
};

template <>
struct Binding<api::Event> {
  using T = api::Event;
  static constexpr std::string_view kMessage = "events.v1.Event";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata},
                                             Bound{"eventTime", &T::event_time},
                                             Bound{"series", &T::series},
                                             Bound{"reportingController", &T::reporting_controller},
                                             Bound{"reportingInstance", &T::reporting_instance},
                                             Bound{"action", &T::action},
                                             Bound{"reason", &T::reason},
                                             Bound{"regarding", &T::regarding},
                                             Bound{"related", &T::related},
                                             Bound{"note", &T::note},
                                             Bound{"type", &T::type}};
};

}  // namespace berth::wire
