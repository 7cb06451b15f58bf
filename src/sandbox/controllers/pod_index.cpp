#include "sandbox/controllers/pod_index.h"

#include <boost/json.hpp>
#include <charconv>

#include "sandbox/conditions.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kPhaseField = 5;  // kinds.cpp: spec.nodeName is the first, status.phase the sixth
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

std::int64_t NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

PodPhase WatchedPod::phase() const {
  const std::string_view phase = revision_->field(kPhaseField);
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  return phase == "Failed" ? PodPhase::kFailed : PodPhase::kPending;
}

bool WatchedPod::IsAvailable(std::int64_t min_ready_seconds, std::int64_t now) const {
  const std::optional<std::int64_t> since = ready_since();
  return since && *since + min_ready_seconds <= now;
}

const WatchedPod::Details& WatchedPod::details() const {
  if (details_) return *details_;
  const json::object pod = revision_->Document();
  Details details;
  details.created = SecondsAt(pod, {"metadata", "creationTimestamp"}).value_or(0);
  details.deletion_cost = NumberIn(TextAt(pod, {"metadata", "annotations", kDeletionCost}));
  if (const json::object* ready = FindCondition(pod, "Ready");
      ready && TextAt(*ready, {"status"}) == "True") {
    details.ready_since = SecondsAt(*ready, {"lastTransitionTime"}).value_or(0);
  }
  if (const json::array* statuses = FindArray(pod, {"status", "containerStatuses"})) {
    for (const json::value& status : *statuses) {
      if (!status.is_object()) continue;
      details.restarts = std::max(details.restarts, NumberAt(status.get_object(), {"restartCount"}));
    }
  }
  details_ = details;
  return *details_;
}

PodIndex::PodIndex(ControlPlane& plane)
    : plane_(plane), subscription_(plane.store().Subscribe(Selection(ResourceOf("v1", "Pod")), *this)) {
  plane_.writer().ForEach(ResourceOf("v1", "Pod"),
                          [&](const RevisionPtr& pod) { Insert(std::make_shared<const WatchedPod>(pod)); });
}

PodIndex::~PodIndex() { plane_.store().Unsubscribe(subscription_); }

const PodIndex::Pods& PodIndex::Find(const Buckets& buckets, std::string_view key) {
  static const Pods kNone;
  const auto it = buckets.find(key);
  return it != buckets.end() ? it->second : kNone;
}

const PodIndex::Pods& PodIndex::OwnedBy(std::string_view uid) const { return Find(by_owner_, uid); }
const PodIndex::Pods& PodIndex::OnNode(std::string_view node) const { return Find(by_node_, node); }

void PodIndex::Insert(const WatchedPodPtr& pod) {
  const Revision& revision = pod->revision();
  if (const std::string_view owner = revision.controller_uid(); !owner.empty()) {
    by_owner_[std::string(owner)].insert_or_assign(revision.key(), pod);
  }
  if (!pod->node_name().empty())
    by_node_[std::string(pod->node_name())].insert_or_assign(revision.key(), pod);
}

// Takes the pod out of both indexes; the entry that was there knows its details already.
WatchedPodPtr PodIndex::Take(const RevisionPtr& previous) {
  WatchedPodPtr taken;
  const auto take = [&](Buckets& buckets, std::string_view key) {
    const auto bucket = buckets.find(key);
    if (key.empty() || bucket == buckets.end()) return;
    const auto it = bucket->second.find(previous->key());
    if (it == bucket->second.end()) return;
    taken = std::move(it->second);
    bucket->second.erase(it);
    if (bucket->second.empty()) buckets.erase(bucket);
  };
  take(by_owner_, previous->controller_uid());
  take(by_node_, previous->field(0));
  return taken != nullptr ? taken : std::make_shared<const WatchedPod>(previous);
}

void PodIndex::OnChange(const Change& change, ChangeFrames&) {
  const WatchedPodPtr before = change.previous != nullptr ? Take(change.previous) : nullptr;
  WatchedPodPtr after;
  if (change.type != wire::WatchType::kDeleted) {
    after = std::make_shared<const WatchedPod>(change.object);
    Insert(after);
  }
  for (PodListener* listener : listeners_) listener->OnPod(before, after);
}

}  // namespace berth::sandbox
