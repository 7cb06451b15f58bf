#include "sim/story.h"

#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <ostream>
#include <utility>

#include "sandbox/document.h"
#include "sim/world_objects.h"

namespace berth::sim {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTold = {{
    {"v1", "Pod"},
    {"v1", "Node"},
    {"v1", "PersistentVolumeClaim"},
    {"v1", "PersistentVolume"},
    {"resource.k8s.io/v1", "ResourceClaim"},
    {"resource.k8s.io/v1", "ResourceSlice"},
}};

std::string_view VerbOf(wire::WatchType type) {
  if (type == wire::WatchType::kAdded) return "made";
  return type == wire::WatchType::kDeleted ? "gone" : "changed";
}

// What one reads of an object to understand a run: its place, its owner, its users.
void AppendField(std::string& line, std::string_view label, std::string_view text) {
  if (!text.empty()) line += fmt::format(" {}={}", label, text);
}

void AppendList(std::string& line, std::string_view label, const json::array* list,
                std::initializer_list<std::string_view> keys) {
  if (list == nullptr) return;
  std::vector<std::string> texts;
  for (const json::value& item : *list) {
    std::vector<std::string> parts;
    for (const std::string_view key : keys) parts.push_back(TextIn(item.as_object(), {key}));
    texts.push_back(fmt::format("{}", fmt::join(parts, "/")));
  }
  line += fmt::format(" {}=[{}]", label, fmt::join(texts, " "));
}

std::string DetailsOf(const json::object& object) {
  std::string line;
  AppendField(line, "deleted", TextIn(object, {"metadata", "deletionTimestamp"}));
  AppendField(line, "node", TextIn(object, {"spec", "nodeName"}));
  AppendField(line, "nominated", TextIn(object, {"status", "nominatedNodeName"}));
  AppendField(line, "phase", TextIn(object, {"status", "phase"}));
  AppendField(line, "chosen",
              TextIn(object, {"metadata", "annotations", "volume.kubernetes.io/selected-node"}));
  AppendField(line, "volume", TextIn(object, {"spec", "volumeName"}));
  AppendField(line, "claim", TextIn(object, {"spec", "claimRef", "name"}));
  AppendList(line, "devices", sandbox::FindArray(object, {"status", "allocation", "devices", "results"}),
             {"pool", "device"});
  AppendList(line, "users", sandbox::FindArray(object, {"status", "reservedFor"}), {"name"});
  AppendList(line, "claims", sandbox::FindArray(object, {"status", "resourceClaimStatuses"}),
             {"resourceClaimName"});
  AppendList(line, "offers", sandbox::FindArray(object, {"spec", "devices"}), {"name"});
  return line;
}

}  // namespace

Story::Story(sandbox::ControlPlane& plane, std::ostream& out) : plane_(plane), out_(out) {
  for (const auto& [version, kind] : kTold) {
    subscriptions_.push_back(
        plane_.store().Subscribe(sandbox::Selection(sandbox::ResourceOf(version, kind)), *this));
  }
}

Story::~Story() {
  for (const sandbox::SubscriptionId id : subscriptions_) plane_.store().Unsubscribe(id);
}

void Story::Tell(std::string_view what) {
  const auto now = std::chrono::duration<double>(plane_.clock().Now().time_since_epoch());
  fmt::print(out_, "{:10.4f} {}\n", now.count(), what);
}

void Story::OnChange(const sandbox::Change& change, sandbox::ChangeFrames&) {
  const json::object document = change.object->Document();
  Tell(fmt::format("  {} {} {} @{}{}", change.object->resource().kind, change.object->name(),
                   VerbOf(change.type), change.version, DetailsOf(document)));
}

}  // namespace berth::sim
