#include "bench/priority_classes.h"

#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "sandbox/document.h"

namespace berth::bench {

namespace json = boost::json;

std::optional<json::object> PriorityClasses::Prepare(json::object& pod) {
  const auto priority = sandbox::FindNumber(pod, {"spec", "priority"});
  if (!priority || *priority == 0 || !sandbox::TextAt(pod, {"spec", "priorityClassName"}).empty()) {
    return std::nullopt;
  }
  const std::string name = fmt::format("priority-{}{}", *priority < 0 ? "minus-" : "", std::abs(*priority));
  sandbox::ObjectAt(pod, {"spec"})["priorityClassName"] = name;
  if (!known_.insert(*priority).second) return std::nullopt;
  return json::object{{"apiVersion", "scheduling.k8s.io/v1"},
                      {"kind", "PriorityClass"},
                      {"metadata", json::object{{"name", name}}},
                      {"value", *priority}};
}

void FillAllocatable(json::object& node) {
  const json::object* const capacity = sandbox::FindObject(node, {"status", "capacity"});
  if (capacity == nullptr || sandbox::FindObject(node, {"status", "allocatable"}) != nullptr) return;
  json::object amounts = *capacity;
  sandbox::ObjectAt(node, {"status"})["allocatable"] = std::move(amounts);
}

}  // namespace berth::bench
