#include "sandbox/controllers/disruption_controller.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <set>

#include "sandbox/conditions.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// How long an eviction that was granted may take to show as a deletion.
constexpr std::int64_t kDeletionSeconds = 120;

// Whoever decides how many pods there are: the set itself, or the Deployment above it.
std::optional<json::object> ScaleHolder(const Store& store, const json::object& managed,
                                        std::string_view namespace_name) {
  const json::array* owners = FindArray(managed, {"metadata", "ownerReferences"});
  if (owners == nullptr) return std::nullopt;
  for (const json::value& entry : *owners) {
    if (!entry.is_object() || !FlagAt(entry.get_object(), {"controller"})) continue;
    const json::object& owner = entry.get_object();
    const Resource* resource =
        ResourceTable::Get().FindKind(TextAt(owner, {"apiVersion"}), TextAt(owner, {"kind"}));
    if (resource == nullptr || !resource->HasSubresource("scale")) return std::nullopt;
    const RevisionPtr found = store.Find(*resource, namespace_name, TextAt(owner, {"name"}));
    if (found == nullptr || found->uid() != TextAt(owner, {"uid"})) return std::nullopt;
    json::object document = found->Document();
    if (resource->kind != "ReplicaSet") return document;
    std::optional<json::object> above = ScaleHolder(store, document, namespace_name);
    return above ? above : document;
  }
  return std::nullopt;
}

// A share of the pods, or a number that may be missing, is counted from how many there should be.
bool NeedsScale(const json::object& budget) {
  const json::value* at_least = FindValue(budget, {"spec", "minAvailable"});
  return FindValue(budget, {"spec", "maxUnavailable"}) != nullptr ||
         (at_least != nullptr && at_least->is_string());
}

std::int64_t DesiredHealthy(const json::object& budget, std::int64_t expected) {
  if (const json::value* at_most = FindValue(budget, {"spec", "maxUnavailable"})) {
    const std::int64_t missing = CountOf({.value = at_most, .total = expected, .round_up = true});
    return std::max<std::int64_t>(expected - missing, 0);
  }
  const json::value* at_least = FindValue(budget, {"spec", "minAvailable"});
  return std::max<std::int64_t>(CountOf({.value = at_least, .total = expected, .round_up = true}), 0);
}

}  // namespace

DisruptionController::DisruptionController(const ControllerContext& context)
    : context_(context),
      budgets_(ResourceOf("policy/v1", "PodDisruptionBudget")),
      queue_(context.plane, [this](const std::string& key) { Reconcile(key); }),
      subscription_(context.plane.store().Subscribe(Selection(budgets_), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(budgets_, [&](const RevisionPtr& budget) { Learn(*budget); });
}

DisruptionController::~DisruptionController() { context_.plane.store().Unsubscribe(subscription_); }

void DisruptionController::Learn(const Revision& revision) {
  Budget budget{.selector = SelectorOf(budgets_, revision.Document()), .pods = {}};
  const ApiResult<Selection> nearby =
      Selection::Make(ResourceOf("v1", "Pod"), {.namespace_name = revision.namespace_name()});
  const std::expected<Store::Page, TooOld> page = context_.plane.store().List(*nearby);
  for (const RevisionPtr& pod : page->items) {
    if (budget.selector.Matches(pod->labels())) {
      budget.pods.emplace(pod->key(), std::make_shared<const WatchedPod>(pod));
    }
  }
  known_[std::string(revision.namespace_name())].insert_or_assign(revision.key(), std::move(budget));
  queue_.Add(revision.key());
}

void DisruptionController::OnChange(const Change& change, ChangeFrames&) {
  const Revision& budget = *change.object;
  if (change.type == wire::WatchType::kDeleted) {
    const auto it = known_.find(budget.namespace_name());
    if (it == known_.end()) return;
    it->second.erase(budget.key());
    if (it->second.empty()) known_.erase(it);
    return;
  }
  const auto known = known_.find(budget.namespace_name());
  const bool is_known = known != known_.end() && known->second.contains(budget.key());
  // A change of the status alone, most often by this controller itself, leaves the selection as it is.
  const bool is_same = is_known && change.previous != nullptr &&
                       NumberAt(change.previous->Document(), {"metadata", "generation"}) ==
                           NumberAt(budget.Document(), {"metadata", "generation"});
  if (is_same) {
    queue_.AddGathered(budget.key(), known->second.at(budget.key()).pods.size());
  } else {
    Learn(budget);
  }
}

void DisruptionController::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  const Revision& pod = (after != nullptr ? after : before)->revision();
  const auto it = known_.find(pod.namespace_name());
  if (it == known_.end()) return;
  for (auto& [key, budget] : it->second) {
    const bool was_in = budget.pods.erase(pod.key()) > 0;
    const bool is_in = after != nullptr && budget.selector.Matches(pod.labels());
    if (is_in) budget.pods.emplace(pod.key(), after);
    if (was_in || is_in) queue_.AddGathered(key, budget.pods.size());
  }
}

void DisruptionController::Reconcile(const std::string& key) {
  const RevisionPtr revision = FindByKey(context_.plane.store(), budgets_, key);
  if (revision == nullptr) return;
  const auto it = known_.find(revision->namespace_name());
  if (it == known_.end() || !it->second.contains(key)) return;
  Report(*revision, it->second.at(key));
}

std::optional<std::int64_t> DisruptionController::Scale(const Budget& budget) const {
  std::int64_t scale = 0;
  std::set<std::string, std::less<>> seen_managers;
  std::set<std::string> seen_holders;
  for (const auto& [key, pod] : budget.pods) {
    const std::string_view manager = pod->revision().controller_uid();
    // Pods that nobody manages count for nothing; most others share their manager with the one before.
    if (manager.empty() || !seen_managers.emplace(manager).second) continue;
    const std::optional<json::object> holder =
        ScaleHolder(context_.plane.store(), pod->revision().Document(), pod->revision().namespace_name());
    if (!holder) return std::nullopt;
    if (!seen_holders.emplace(TextAt(*holder, {"metadata", "uid"})).second) continue;
    scale += FindNumber(*holder, {"spec", "replicas"}).value_or(1);
  }
  return scale;
}

// Evictions that were granted and do not show yet: their pods count as gone.
json::object DisruptionController::StillDisrupted(const Revision& revision, const Budget& budget,
                                                  const json::object& document) {
  json::object disrupted;
  const std::int64_t now = SecondsOf(context_.plane.clock().WallNow());
  const json::object* noted = FindObject(document, {"status", "disruptedPods"});
  if (noted == nullptr) return disrupted;
  for (const json::key_value_pair& entry : *noted) {
    const auto pod =
        budget.pods.find(fmt::format("{}/{}", revision.namespace_name(), std::string_view(entry.key())));
    if (pod == budget.pods.end() || pod->second->revision().is_terminating()) continue;
    const std::int64_t left =
        SecondsAt(*noted, {std::string_view(entry.key())}).value_or(now) + kDeletionSeconds - now;
    if (left <= 0) continue;
    disrupted[entry.key()] = entry.value();
    queue_.AddAfter(revision.key(), std::chrono::seconds(left));
  }
  return disrupted;
}

void DisruptionController::Report(const Revision& revision, const Budget& budget) {
  const json::object current = revision.Document();
  const std::optional<std::int64_t> expected =
      NeedsScale(current) ? Scale(budget) : std::optional(static_cast<std::int64_t>(budget.pods.size()));
  const json::object disrupted = StillDisrupted(revision, budget, current);
  std::int64_t healthy = 0;
  for (const auto& [key, pod] : budget.pods) {
    const bool counts = pod->is_active() && pod->is_ready() && !disrupted.contains(pod->revision().name());
    healthy += counts ? 1 : 0;
  }
  const std::int64_t desired = DesiredHealthy(current, expected.value_or(0));
  const std::int64_t allowed = expected.value_or(0) > 0 ? std::max<std::int64_t>(healthy - desired, 0) : 0;
  static_cast<void>(ChangeStatus(context_.plane.writer(), revision, [&](json::object& document) {
    const std::int64_t generation = NumberAt(current, {"metadata", "generation"});
    json::object& status = ObjectAt(document, {"status"});
    status["observedGeneration"] = generation;
    status["disruptionsAllowed"] = allowed;
    ConditionWish wish{"DisruptionAllowed", "False", "SyncFailed",
                       "found no controllers with a scale for the selected pods"};
    if (expected) {
      status["disruptedPods"] = disrupted;
      status["currentHealthy"] = healthy;
      status["desiredHealthy"] = desired;
      status["expectedPods"] = *expected;
      wish = allowed > 0 ? ConditionWish{"DisruptionAllowed", "True", "SufficientPods"}
                         : ConditionWish{"DisruptionAllowed", "False", "InsufficientPods"};
    }
    SetCondition(document, wish, context_.plane.writer().TimeText());
    for (json::value& condition : ArrayAt(document, {"status", "conditions"})) {
      condition.get_object()["observedGeneration"] = generation;
    }
  }));
}

}  // namespace berth::sandbox
