#include "sandbox/event_forms.h"

#include <boost/json.hpp>
#include <string_view>

namespace berth::sandbox {
namespace {

namespace json = boost::json;

struct Renamed {
  std::string_view core;
  std::string_view grouped;
};

constexpr Renamed kRenamed[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
};

json::object Rename(const json::object& document, std::string_view api_version,
                    std::string_view Renamed::* from, std::string_view Renamed::* to) {
  json::object renamed;
  renamed.reserve(document.size());
  for (const json::key_value_pair& member : document) {
    const std::string_view key(member.key().data(), member.key().size());
    std::string_view name = key;
    for (const Renamed& pair : kRenamed) {
      if (pair.*from == key) name = pair.*to;
    }
    renamed[name] = member.value();
  }
  renamed["apiVersion"] = api_version;
  return renamed;
}

}  // namespace

json::object ToGroupedEvent(const json::object& core) {
  return Rename(core, "events.k8s.io/v1", &Renamed::core, &Renamed::grouped);
}

json::object ToCoreEvent(const json::object& grouped) {
  return Rename(grouped, "v1", &Renamed::grouped, &Renamed::core);
}

}  // namespace berth::sandbox
