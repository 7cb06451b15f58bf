#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/quantity.h"
#include "sandbox/admission_pod.h"
#include "sandbox/document.h"

// What is asked of a node when one of its pods is resized.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

// In thousandths, which both resources have as whole numbers far beyond what a node offers.
std::int64_t MilliAt(const json::object* amounts, std::string_view resource) {
  if (amounts == nullptr) return 0;
  const auto amount = api::Quantity::Parse(TextAt(*amounts, {resource}));
  return amount ? amount->MilliValue() : 0;
}

std::int64_t RequestOf(const json::value& container, std::string_view resource) {
  const json::object* object = container.if_object();
  return object != nullptr ? MilliAt(FindObject(*object, {"resources", "requests"}), resource) : 0;
}

// What the pod needs at its most demanding moment: while it starts, or when it runs.
std::int64_t RequestOfPod(const json::object& pod, std::string_view resource) {
  std::int64_t running = 0;
  std::int64_t starting = 0;
  std::int64_t sidecars = 0;
  if (const json::array* containers = FindArray(pod, {"spec", "containers"})) {
    for (const json::value& container : *containers) running += RequestOf(container, resource);
  }
  if (const json::array* containers = FindArray(pod, {"spec", "initContainers"})) {
    for (const json::value& container : *containers) {
      const bool stays =
          container.is_object() && TextAt(container.get_object(), {"restartPolicy"}) == "Always";
      const std::int64_t request = RequestOf(container, resource);
      if (stays) sidecars += request;
      starting = std::max(starting, stays ? sidecars : sidecars + request);
    }
  }
  std::int64_t most = std::max(running + sidecars, starting);
  const json::object* whole = FindObject(pod, {"spec", "resources", "requests"});
  if (whole != nullptr && whole->contains(resource)) most = MilliAt(whole, resource);
  return most + MilliAt(FindObject(pod, {"spec", "overhead"}), resource);
}

}  // namespace

ApiResult<void> CheckResizeFits(const json::object& pod, const json::object& old,
                                const AdmissionContext& context) {
  static const Resource& pods = ResourceOf("v1", "Pod");
  static const Resource& nodes = ResourceOf("v1", "Node");
  const std::string_view node_name = TextAt(pod, {"spec", "nodeName"});
  const bool is_changed =
      NumberAt(pod, {"metadata", "generation"}) != NumberAt(old, {"metadata", "generation"});
  if (node_name.empty() || !is_changed) return {};
  const auto forbid = [&](std::string_view why, std::string_view cause) {
    StatusError error = Forbidden(pods, TextAt(pod, {"metadata", "name"}), why);
    if (!cause.empty()) error.causes.push_back({std::string(cause), "", ""});
    return Refuse(std::move(error));
  };
  const RevisionPtr node = context.lookup.Find(nodes, "", node_name);
  if (node == nullptr) return forbid(fmt::format("node \"{}\" not found", node_name), "");
  const json::object document = node->Document();
  const std::string_view os = TextAt(document, {"metadata", "labels", "kubernetes.io/os"});
  if (!os.empty() && os != "linux") {
    return forbid(
        fmt::format("pod resize is only supported on linux nodes, node \"{}\" is \"{}\"", node_name, os),
        "UnsupportedPlatform");
  }
  const json::object* allocatable = FindObject(document, {"status", "allocatable"});
  std::vector<std::string> lacking;
  for (const std::string_view resource : {"cpu", "memory"}) {
    const std::int64_t wanted = RequestOfPod(pod, resource);
    const std::int64_t offered = MilliAt(allocatable, resource);
    const std::int64_t unit = resource == "cpu" ? 1 : 1000;
    if (wanted <= offered) continue;
    lacking.push_back(
        fmt::format("{}, requested: {}, allocatable: {}", resource, wanted / unit, offered / unit));
  }
  if (lacking.empty()) return {};
  return forbid(fmt::format("node didn't have enough allocatable resources: {}", fmt::join(lacking, "; ")),
                "NodeCapacity");
}

}  // namespace berth::sandbox
