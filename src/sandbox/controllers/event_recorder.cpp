#include "sandbox/controllers/event_recorder.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"

namespace berth::sandbox {

void EventRecorder::Record(const Revision& about, const Note& note) {
  const std::string namespace_name(about.namespace_name().empty() ? "default" : about.namespace_name());
  const std::string now = plane_.writer().TimeText();
  boost::json::object event;
  boost::json::object& metadata = ObjectAt(event, {"metadata"});
  // The time makes the name unique across restarts, the count within one.
  const auto time = static_cast<std::uint64_t>(plane_.clock().WallNow().time_since_epoch().count());
  metadata["name"] = fmt::format("{}.{:x}", about.name(), time + ++count_);
  boost::json::object& involved = ObjectAt(event, {"involvedObject"});
  involved["kind"] = about.resource().kind;
  involved["apiVersion"] = about.resource().api_version;
  involved["namespace"] = about.namespace_name();
  involved["name"] = about.name();
  involved["uid"] = about.uid();
  involved["resourceVersion"] = std::to_string(about.version());
  event["reason"] = note.reason;
  event["message"] = note.message;
  event["type"] = note.is_warning ? "Warning" : "Normal";
  event["source"] = boost::json::object({{"component", boost::json::string(note.component)}});
  event["reportingComponent"] = note.component;
  event["firstTimestamp"] = now;
  event["lastTimestamp"] = now;
  event["count"] = 1;
  // An event that cannot be written (its namespace is going) is lost: nobody depends on it.
  static_cast<void>(plane_.writer().Create(
      {.resource = &ResourceOf("v1", "Event"), .namespace_name = namespace_name}, std::move(event)));
}

}  // namespace berth::sandbox
