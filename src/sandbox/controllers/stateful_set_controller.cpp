#include "sandbox/controllers/stateful_set_controller.h"

#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>
#include <optional>

#include "sandbox/controllers/template_revisions.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kStatefulSetComponent = "statefulset-controller";
constexpr std::string_view kRevisionLabel = "controller-revision-hash";

// The number at the end of a pod's name; nothing if the pod is none of the set's.
std::optional<std::int64_t> OrdinalOf(std::string_view set, std::string_view pod) {
  if (!pod.starts_with(set) || pod.size() < set.size() + 2 || pod[set.size()] != '-') return std::nullopt;
  const std::string_view digits = pod.substr(set.size() + 1);
  std::int64_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return ordinal;
}

std::string_view RevisionOf(const WatchedPod& pod) {
  const std::string* revision = pod.revision().labels().find(kRevisionLabel);
  return revision != nullptr ? std::string_view(*revision) : std::string_view();
}

std::string ClaimName(const json::object& pattern, std::string_view pod_name) {
  return fmt::format("{}-{}", TextAt(pattern, {"metadata", "name"}), pod_name);
}

// The pod's volumes: those of the template, with the claims of its own in place of namesakes.
void MountClaims(const json::object& set, json::object& pod, std::string_view pod_name) {
  const json::array* patterns = FindArray(set, {"spec", "volumeClaimTemplates"});
  if (patterns == nullptr || patterns->empty()) return;
  json::array volumes;
  for (const json::value& pattern : *patterns) {
    if (!pattern.is_object()) continue;
    json::object volume;
    volume["name"] = TextAt(pattern.get_object(), {"metadata", "name"});
    ObjectAt(volume, {"persistentVolumeClaim"})["claimName"] = ClaimName(pattern.get_object(), pod_name);
    volumes.push_back(std::move(volume));
  }
  for (const json::value& volume : ArrayAt(pod, {"spec", "volumes"})) {
    const bool is_replaced = std::ranges::any_of(volumes, [&](const json::value& own) {
      return volume.is_object() &&
             TextAt(own.get_object(), {"name"}) == TextAt(volume.get_object(), {"name"});
    });
    if (!is_replaced) volumes.push_back(volume);
  }
  ObjectAt(pod, {"spec"})["volumes"] = std::move(volumes);
}

}  // namespace

struct StatefulSetView {
  RevisionPtr set;
  json::object document;
  TemplateRevisions& revisions;
  std::string current;  // names of revisions
  std::string update;
  std::map<std::int64_t, WatchedPodPtr> pods = {};  // by ordinal
  std::int64_t first = 0;
  std::int64_t replicas = 1;
  std::int64_t partition = 0;
  std::int64_t min_ready = 0;
  std::int64_t now = 0;
  bool is_parallel = false;
  bool rolls = true;

  bool IsWanted(std::int64_t ordinal) const { return ordinal >= first && ordinal < first + replicas; }
  bool Serves(const WatchedPod& pod) const {
    return pod.is_active() && pod.phase() == PodPhase::kRunning && pod.IsAvailable(min_ready, now);
  }
};

StatefulSetController::StatefulSetController(const ControllerContext& context)
    : context_(context),
      sets_(ResourceOf("apps/v1", "StatefulSet")),
      queue_(context.plane, [this](const std::string& key) { Reconcile(key); }),
      subscription_(context.plane.store().Subscribe(Selection(sets_), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(sets_, [&](const RevisionPtr& set) {
    keys_.insert_or_assign(set->uid(), set->key());
    queue_.Add(set->key());
  });
}

StatefulSetController::~StatefulSetController() { context_.plane.store().Unsubscribe(subscription_); }

void StatefulSetController::OnChange(const Change& change, ChangeFrames&) {
  const Revision& set = *change.object;
  if (change.type == wire::WatchType::kDeleted) {
    keys_.erase(set.uid());
    return;
  }
  if (change.type == wire::WatchType::kAdded) to_adopt_.push_back(set.key());
  keys_.insert_or_assign(set.uid(), set.key());
  queue_.Add(set.key());
}

void StatefulSetController::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  for (const WatchedPodPtr& pod : {before, after}) {
    if (pod == nullptr) continue;
    const auto it = keys_.find(pod->revision().controller_uid());
    if (it != keys_.end()) queue_.Add(it->second);
  }
}

void StatefulSetController::Reconcile(const std::string& key) {
  const RevisionPtr set = FindByKey(context_.plane.store(), sets_, key);
  if (set == nullptr) return;
  const json::object document = set->Document();
  if (std::erase(to_adopt_, key) > 0) AdoptPods(context_, *set, SelectorOf(sets_, document));
  TemplateRevisions revisions(context_, set, document);
  const Revision* latest = revisions.Latest();
  if (latest == nullptr) {
    queue_.AddAfter(key, kRetryDelay);
    return;
  }
  StatefulSetView view{.set = set, .document = document, .revisions = revisions, .current = {}, .update = {}};
  view.update = latest->name();
  view.current = TextAt(document, {"status", "currentRevision"});
  if (revisions.Find(view.current) == nullptr) view.current = view.update;
  view.first = NumberAt(document, {"spec", "ordinals", "start"});
  view.replicas = FindNumber(document, {"spec", "replicas"}).value_or(1);
  view.partition = NumberAt(document, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  view.min_ready = NumberAt(document, {"spec", "minReadySeconds"});
  view.now = SecondsOf(context_.plane.clock().WallNow());
  view.is_parallel = TextAt(document, {"spec", "podManagementPolicy"}) == "Parallel";
  view.rolls = TextAt(document, {"spec", "updateStrategy", "type"}) != "OnDelete";
  const auto count = [&] {
    view.pods.clear();
    for (const auto& [pod_key, pod] : context_.pods.OwnedBy(set->uid())) {
      const std::optional<std::int64_t> ordinal = OrdinalOf(set->name(), pod->revision().name());
      if (ordinal) view.pods.emplace(*ordinal, pod);
    }
  };
  count();
  if (!set->is_terminating() && Fill(view) && Shrink(view) && view.rolls) Renew(view);
  count();
  Report(view);
}

bool StatefulSetController::Fill(const StatefulSetView& view) {
  bool all_serve = true;
  for (std::int64_t ordinal = view.first; ordinal < view.first + view.replicas; ++ordinal) {
    const auto it = view.pods.find(ordinal);
    if (it == view.pods.end()) {
      all_serve = false;
      if (!CreatePod(view, ordinal)) return false;
      if (!view.is_parallel) return false;
      continue;
    }
    const WatchedPod& pod = *it->second;
    if (pod.is_finished() && !pod.revision().is_terminating()) {
      DeletePod(view, pod);
      all_serve = false;
    } else if (!view.Serves(pod)) {
      all_serve = false;
      if (pod.is_ready() && pod.is_active()) queue_.AddAfter(view.set->key(), std::chrono::seconds(1));
    }
    if (!all_serve && !view.is_parallel) return false;
  }
  return all_serve || view.is_parallel;
}

bool StatefulSetController::Shrink(const StatefulSetView& view) {
  bool is_done = true;
  for (auto it = view.pods.rbegin(); it != view.pods.rend(); ++it) {
    if (view.IsWanted(it->first)) continue;
    is_done = false;
    const WatchedPod& pod = *it->second;
    if (!pod.revision().is_terminating()) DeletePod(view, pod);
    if (!view.is_parallel) return false;
  }
  return is_done;
}

void StatefulSetController::Renew(const StatefulSetView& view) {
  for (auto it = view.pods.rbegin(); it != view.pods.rend(); ++it) {
    if (!view.IsWanted(it->first) || it->first < view.first + view.partition) continue;
    const WatchedPod& pod = *it->second;
    if (pod.revision().is_terminating()) return;
    if (RevisionOf(pod) != view.update) {
      DeletePod(view, pod);
      return;
    }
    if (!view.Serves(pod)) return;
  }
}

bool StatefulSetController::CreatePod(const StatefulSetView& view, std::int64_t ordinal) {
  const bool is_old = view.rolls && ordinal < view.first + view.partition;
  const std::string& revision_name = is_old ? view.current : view.update;
  const std::string name = fmt::format("{}-{}", view.set->name(), ordinal);
  if (!CreateClaims(view, name)) return false;
  const json::object pattern = view.revisions.Restore(*view.revisions.Find(revision_name));
  json::object pod = PodFromTemplate(pattern, *view.set);
  ObjectAt(pod, {"metadata"})["name"] = name;
  json::object& labels = ObjectAt(pod, {"metadata", "labels"});
  labels[kRevisionLabel] = revision_name;
  labels["statefulset.kubernetes.io/pod-name"] = name;
  labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
  ObjectAt(pod, {"spec"})["hostname"] = name;
  const std::string service(TextAt(view.document, {"spec", "serviceName"}));
  if (!service.empty()) ObjectAt(pod, {"spec"})["subdomain"] = service;
  MountClaims(view.document, pod, name);
  const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
      {.resource = &ResourceOf("v1", "Pod"), .namespace_name = std::string(view.set->namespace_name())},
      std::move(pod));
  if (!created) {
    context_.events.Record(*view.set, {kStatefulSetComponent, "FailedCreate",
                                       fmt::format("create Pod {} in StatefulSet {} failed error: {}", name,
                                                   view.set->name(), created.error().message),
                                       true});
    queue_.AddAfter(view.set->key(), kRetryDelay);
    return false;
  }
  context_.events.Record(*view.set,
                         {kStatefulSetComponent, "SuccessfulCreate",
                          fmt::format("create Pod {} in StatefulSet {} successful", name, view.set->name())});
  return true;
}

bool StatefulSetController::CreateClaims(const StatefulSetView& view, const std::string& pod_name) {
  static const Resource& claims = ResourceOf("v1", "PersistentVolumeClaim");
  const json::array* patterns = FindArray(view.document, {"spec", "volumeClaimTemplates"});
  if (patterns == nullptr) return true;
  for (const json::value& pattern : *patterns) {
    if (!pattern.is_object()) continue;
    const std::string name = ClaimName(pattern.get_object(), pod_name);
    if (context_.plane.store().Find(claims, view.set->namespace_name(), name) != nullptr) continue;
    json::object claim;
    if (const json::value* spec = FindValue(pattern.get_object(), {"spec"})) claim["spec"] = *spec;
    for (const std::string_view key : {"labels", "annotations"}) {
      const json::value* value = FindValue(pattern.get_object(), {"metadata", key});
      if (value != nullptr) ObjectAt(claim, {"metadata"})[key] = *value;
    }
    if (const json::object* labels = FindObject(view.document, {"spec", "selector", "matchLabels"})) {
      for (const json::key_value_pair& label : *labels) {
        ObjectAt(claim, {"metadata", "labels"})[label.key()] = label.value();
      }
    }
    ObjectAt(claim, {"metadata"})["name"] = name;
    const bool goes_along =
        TextAt(view.document, {"spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"}) == "Delete";
    if (goes_along) SetController(claim, *view.set);
    const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
        {.resource = &claims, .namespace_name = std::string(view.set->namespace_name())}, std::move(claim));
    if (!created) {
      queue_.AddAfter(view.set->key(), kRetryDelay);
      return false;
    }
    context_.events.Record(*view.set, {kStatefulSetComponent, "SuccessfulCreate",
                                       fmt::format("create Claim {} Pod {} in StatefulSet {} success", name,
                                                   pod_name, view.set->name())});
  }
  return true;
}

void StatefulSetController::DeletePod(const StatefulSetView& view, const WatchedPod& pod) {
  const Revision& revision = pod.revision();
  const ApiResult<Removal> removed =
      context_.plane.writer().Delete(TargetOf(revision), {.uid = revision.uid()});
  if (!removed) return;
  context_.events.Record(*view.set, {kStatefulSetComponent, "SuccessfulDelete",
                                     fmt::format("delete Pod {} in StatefulSet {} successful",
                                                 revision.name(), view.set->name())});
}

void StatefulSetController::Report(StatefulSetView& view) {
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t current = 0;
  std::int64_t updated = 0;
  for (const auto& [ordinal, pod] : view.pods) {
    ready += pod->is_active() && pod->is_ready() ? 1 : 0;
    available += view.Serves(*pod) ? 1 : 0;
    if (pod->revision().is_terminating()) continue;
    current += RevisionOf(*pod) == view.current ? 1 : 0;
    updated += RevisionOf(*pod) == view.update ? 1 : 0;
  }
  const bool is_done = view.rolls && view.partition == 0 && updated == view.replicas &&
                       ready == view.replicas && static_cast<std::int64_t>(view.pods.size()) == view.replicas;
  if (is_done) {
    view.current = view.update;
    current = updated;
  }
  static_cast<void>(ChangeStatus(context_.plane.writer(), *view.set, [&](json::object& document) {
    const std::int64_t generation = NumberAt(document, {"metadata", "generation"});
    json::object& status = ObjectAt(document, {"status"});
    status["observedGeneration"] = generation;
    status["replicas"] = view.pods.size();
    status["readyReplicas"] = ready;
    status["availableReplicas"] = available;
    status["currentReplicas"] = current;
    status["updatedReplicas"] = updated;
    status["currentRevision"] = view.current;
    status["updateRevision"] = view.update;
    if (!status.contains("collisionCount")) status["collisionCount"] = 0;
  }));
  std::vector<std::string> used = {view.current, view.update};
  for (const auto& [ordinal, pod] : view.pods) used.emplace_back(RevisionOf(*pod));
  view.revisions.Prune(used, FindNumber(view.document, {"spec", "revisionHistoryLimit"}).value_or(10));
}

}  // namespace berth::sandbox
