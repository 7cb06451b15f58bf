#include "sandbox/controllers/node_taints.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <optional>

#include "api/tolerations.h"
#include "sandbox/conditions.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

struct ConditionTaint {
  std::string_view condition;
  std::string_view status;
  std::string_view key;
};

constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", "node.kubernetes.io/not-ready"},
    {"Ready", "Unknown", "node.kubernetes.io/unreachable"},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
};
constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

bool SetTaint(json::array& taints, std::string_view key, std::string_view effect, bool wanted,
              const std::string& now) {
  const auto it = std::ranges::find_if(taints, [&](const json::value& taint) {
    return taint.is_object() && TextAt(taint.get_object(), {"key"}) == key &&
           TextAt(taint.get_object(), {"effect"}) == effect;
  });
  if ((it != taints.end()) == wanted) return false;
  if (!wanted) {
    taints.erase(it);
    return true;
  }
  json::object taint;
  taint["key"] = key;
  taint["effect"] = effect;
  taint["timeAdded"] = now;
  taints.push_back(std::move(taint));
  return true;
}

std::vector<api::Taint> NoExecuteTaints(const json::object& node) {
  std::vector<api::Taint> list;
  const json::array* taints = FindArray(node, {"spec", "taints"});
  if (taints == nullptr) return list;
  for (const json::value& entry : *taints) {
    if (!entry.is_object() || TextAt(entry.get_object(), {"effect"}) != api::kNoExecute) continue;
    const json::object& taint = entry.get_object();
    list.push_back({.key = std::string(TextAt(taint, {"key"})),
                    .value = std::string(TextAt(taint, {"value"})),
                    .effect = std::string(api::kNoExecute),
                    .time_added = {}});
    if (const std::optional<std::int64_t> added = SecondsAt(taint, {"timeAdded"})) {
      list.back().time_added = api::Time{*added};
    }
  }
  return list;
}

std::vector<api::Toleration> TolerationsOf(const json::object& pod) {
  std::vector<api::Toleration> list;
  const json::array* tolerations = FindArray(pod, {"spec", "tolerations"});
  if (tolerations == nullptr) return list;
  for (const json::value& entry : *tolerations) {
    if (!entry.is_object()) continue;
    const json::object& toleration = entry.get_object();
    list.push_back({.key = std::string(TextAt(toleration, {"key"})),
                    .operator_ = std::string(TextAt(toleration, {"operator"})),
                    .value = std::string(TextAt(toleration, {"value"})),
                    .effect = std::string(TextAt(toleration, {"effect"})),
                    .toleration_seconds = FindNumber(toleration, {"tolerationSeconds"})});
  }
  return list;
}

// When the pod has to go, in seconds of wall time; nothing if it may stay.
std::optional<std::int64_t> EndOfStay(const std::vector<api::Toleration>& tolerations,
                                      const std::vector<api::Taint>& taints, std::int64_t now) {
  std::optional<std::int64_t> end;
  for (const api::Taint& taint : taints) {
    bool is_tolerated = false;
    std::optional<std::int64_t> stay;  // the shortest of those that match; none: for ever
    for (const api::Toleration& toleration : tolerations) {
      if (!api::Tolerates(toleration, taint, true)) continue;
      is_tolerated = true;
      if (!toleration.toleration_seconds) continue;
      const std::int64_t seconds = std::max<std::int64_t>(*toleration.toleration_seconds, 0);
      stay = stay ? std::min(*stay, seconds) : seconds;
    }
    if (!is_tolerated) return now;
    if (!stay) continue;
    const std::int64_t since = taint.time_added ? taint.time_added->unix_seconds : now;
    end = end ? std::min(*end, since + *stay) : since + *stay;
  }
  return end;
}

}  // namespace

bool SetConditionTaints(json::object& node, const std::string& now) {
  json::array& taints = ArrayAt(node, {"spec", "taints"});
  bool changed =
      SetTaint(taints, kUnschedulable, api::kNoSchedule, FlagAt(node, {"spec", "unschedulable"}), now);
  for (const ConditionTaint& rule : kConditionTaints) {
    const json::object* condition = FindCondition(node, rule.condition);
    const bool holds = condition != nullptr && TextAt(*condition, {"status"}) == rule.status;
    changed = SetTaint(taints, rule.key, api::kNoSchedule, holds, now) || changed;
    // A node that does not answer loses its pods, too, as soon as their tolerations allow.
    if (rule.condition == "Ready")
      changed = SetTaint(taints, rule.key, api::kNoExecute, holds, now) || changed;
  }
  if (taints.empty()) RemoveAt(node, {"spec", "taints"});
  return changed;
}

NodeTaints::NodeTaints(const ControllerContext& context)
    : context_(context),
      nodes_(ResourceOf("v1", "Node")),
      node_queue_(context.plane, [this](const std::string& name) { LookAtNode(name); }),
      pod_queue_(context.plane, [this](const std::string& key) { LookAtPod(key); }),
      subscription_(context.plane.store().Subscribe(Selection(nodes_), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(nodes_, [&](const RevisionPtr& node) { node_queue_.Add(node->key()); });
}

NodeTaints::~NodeTaints() { context_.plane.store().Unsubscribe(subscription_); }

void NodeTaints::OnChange(const Change& change, ChangeFrames&) {
  if (change.type != wire::WatchType::kDeleted) node_queue_.Add(change.object->key());
}

void NodeTaints::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  // A pod that has just come to a node; others are looked at when the node changes.
  const bool is_new_there = after != nullptr && !after->node_name().empty() &&
                            (before == nullptr || before->node_name() != after->node_name());
  if (is_new_there) pod_queue_.Add(after->revision().key());
}

void NodeTaints::LookAtNode(const std::string& name) {
  const RevisionPtr node = context_.plane.store().Find(nodes_, "", name);
  if (node == nullptr) return;
  json::object document = node->Document();
  const std::string now = context_.plane.writer().TimeText();
  if (SetConditionTaints(document, now)) {
    static_cast<void>(ChangeObject(context_.plane.writer(), *node,
                                   [&](json::object& changed) { SetConditionTaints(changed, now); }));
    return;  // its own change calls again
  }
  if (NoExecuteTaints(document).empty()) return;
  for (const auto& [key, pod] : context_.pods.OnNode(name)) pod_queue_.Add(key);
}

void NodeTaints::LookAtPod(const std::string& key) {
  const RevisionPtr pod = FindByKey(context_.plane.store(), ResourceOf("v1", "Pod"), key);
  if (pod == nullptr || !WatchedPod(pod).is_active()) return;
  const RevisionPtr node = context_.plane.store().Find(nodes_, "", pod->field(0));
  if (node == nullptr) return;
  const std::vector<api::Taint> taints = NoExecuteTaints(node->Document());
  if (taints.empty()) return;
  const std::int64_t now = SecondsOf(context_.plane.clock().WallNow());
  const std::optional<std::int64_t> end = EndOfStay(TolerationsOf(pod->Document()), taints, now);
  if (!end) return;
  if (*end > now) {
    pod_queue_.AddAfter(key, std::chrono::seconds(*end - now));
    return;
  }
  const std::string message = fmt::format("Marking for deletion Pod {}", key);
  context_.events.Record(*pod, {"taint-eviction-controller", "TaintManagerEviction", message});
  static_cast<void>(context_.plane.writer().Delete(TargetOf(*pod), {.uid = pod->uid()}));
}

}  // namespace berth::sandbox
