#include "server/otlp.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace berth::server {
namespace {

namespace json = boost::json;

// As OTLP numbers them.
constexpr int kInternal = 1;
constexpr int kStatusError = 2;

json::object Attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", json::object{{"stringValue", value}}}};
}

json::object IntAttribute(std::string_view key, std::int64_t value) {
  return {{"key", key}, {"value", json::object{{"intValue", std::to_string(value)}}}};
}

std::string UnixNanos(base::TimePoint time, base::Duration wall_offset) {
  return std::to_string((time.time_since_epoch() + wall_offset).count());
}

struct Ids {
  std::string trace;
  std::string parent;
};

json::object Span(const Ids& ids, std::string id, std::string_view name, std::string begin, std::string end) {
  json::object span{{"traceId", ids.trace},
                    {"spanId", std::move(id)},
                    {"name", name},
                    {"kind", kInternal},
                    {"startTimeUnixNano", std::move(begin)},
                    {"endTimeUnixNano", std::move(end)}};
  if (!ids.parent.empty()) span["parentSpanId"] = ids.parent;
  return span;
}

// Not zero, which would mean that there is none.
std::string MakeId(base::Random& random) {
  std::uint64_t number = 0;
  while (number == 0) number = random.Next();
  return fmt::format("{:016x}", number);
}

void AppendAttempt(const cycle::AttemptTrace& trace, base::Duration wall_offset, base::Random& random,
                   json::array& spans) {
  Ids ids{.trace = MakeId(random) + MakeId(random), .parent = {}};
  const std::string root = MakeId(random);
  json::object whole = Span(ids, root, "SchedulingAttempt", UnixNanos(trace.begin, wall_offset),
                            UnixNanos(trace.end, wall_offset));
  json::array attributes{Attribute("k8s.namespace.name", trace.pod->namespace_),
                         Attribute("k8s.pod.name", trace.pod->name),
                         Attribute("k8s.pod.uid", trace.pod->uid),
                         Attribute("scheduler.profile", trace.profile),
                         IntAttribute("scheduler.attempt", trace.attempt),
                         Attribute("scheduler.result", trace.result)};
  if (!trace.node.empty()) attributes.push_back(Attribute("k8s.node.name", trace.node));
  whole["attributes"] = std::move(attributes);
  if (trace.result != "scheduled") {
    whole["status"] = json::object{{"code", kStatusError}, {"message", trace.message}};
  }
  spans.push_back(std::move(whole));
  ids.parent = root;
  for (const cycle::TraceSpan& span : trace.spans) {
    json::object point = Span(ids, MakeId(random), span.name, UnixNanos(span.begin, wall_offset),
                              UnixNanos(span.end, wall_offset));
    point["attributes"] = json::array{Attribute("scheduler.status", span.status)};
    if (span.status == "Error") point["status"] = json::object{{"code", kStatusError}};
    spans.push_back(std::move(point));
  }
}

}  // namespace

std::string WriteOtlp(std::span<const cycle::AttemptTrace> traces, const OtlpResource& resource,
                      base::Duration wall_offset, base::Random& random) {
  json::array spans;
  for (const cycle::AttemptTrace& trace : traces) AppendAttempt(trace, wall_offset, random, spans);
  json::object scope{{"scope", json::object{{"name", "berth"}}}, {"spans", std::move(spans)}};
  json::array attributes{Attribute("service.name", resource.service),
                         Attribute("service.version", resource.version),
                         Attribute("service.instance.id", resource.instance)};
  json::object described{{"resource", json::object{{"attributes", std::move(attributes)}}},
                         {"scopeSpans", json::array{std::move(scope)}}};
  return json::serialize(json::object{{"resourceSpans", json::array{std::move(described)}}});
}

}  // namespace berth::server
