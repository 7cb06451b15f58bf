#include "sandbox/controllers/resource_claim_controller.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/finalizers.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";
constexpr std::string_view kDeleteProtection = "resource.kubernetes.io/delete-protection";
constexpr std::string_view kResourceClaimComponent = "resource_claim";

// The noted claim of one entry of the pod; empty if none is noted yet.
std::string_view NotedClaim(const json::object& pod, std::string_view entry) {
  const json::array* statuses = FindArray(pod, {"status", "resourceClaimStatuses"});
  if (statuses == nullptr) return {};
  for (const json::value& status : *statuses) {
    if (status.is_object() && TextAt(status.get_object(), {"name"}) == entry) {
      return TextAt(status.get_object(), {"resourceClaimName"});
    }
  }
  return {};
}

}  // namespace

ResourceClaimController::ResourceClaimController(const ControllerContext& context)
    : context_(context),
      claims_(ResourceOf("resource.k8s.io/v1", "ResourceClaim")),
      templates_(ResourceOf("resource.k8s.io/v1", "ResourceClaimTemplate")),
      pod_queue_(context.plane, [this](const std::string& key) { LookAtPod(key); }),
      claim_queue_(context.plane, [this](const std::string& key) { LookAtClaim(key); }),
      claims_subscription_(context.plane.store().Subscribe(Selection(claims_), *this)),
      templates_subscription_(context.plane.store().Subscribe(Selection(templates_), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(ResourceOf("v1", "Pod"),
                                  [&](const RevisionPtr& pod) { pod_queue_.Add(pod->key()); });
  context_.plane.writer().ForEach(claims_, [&](const RevisionPtr& claim) { claim_queue_.Add(claim->key()); });
}

ResourceClaimController::~ResourceClaimController() {
  context_.plane.store().Unsubscribe(claims_subscription_);
  context_.plane.store().Unsubscribe(templates_subscription_);
}

void ResourceClaimController::OnChange(const Change& change, ChangeFrames&) {
  if (change.type == wire::WatchType::kDeleted) return;
  if (&change.object->resource() == &claims_) {
    claim_queue_.Add(change.object->key());
    return;
  }
  const auto it = waiting_.find(change.object->key());
  if (it == waiting_.end()) return;
  for (const std::string& pod : it->second) pod_queue_.Add(pod);
  waiting_.erase(it);
}

void ResourceClaimController::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  const bool is_done = after == nullptr || after->is_finished();
  const bool was_done = before != nullptr && before->is_finished();
  if (before == nullptr) {
    pod_queue_.Add(after->revision().key());
  } else if (is_done && !was_done) {
    CheckClaimsOf(before->revision());
  }
}

// The claims that this pod may hold a place in.
void ResourceClaimController::CheckClaimsOf(const Revision& pod) {
  const json::object document = pod.Document();
  const json::array* entries = FindArray(document, {"spec", "resourceClaims"});
  if (entries == nullptr) return;
  for (const json::value& entry : *entries) {
    if (!entry.is_object()) continue;
    std::string_view name = TextAt(entry.get_object(), {"resourceClaimName"});
    if (name.empty()) name = NotedClaim(document, TextAt(entry.get_object(), {"name"}));
    if (!name.empty()) claim_queue_.Add(fmt::format("{}/{}", pod.namespace_name(), name));
  }
}

void ResourceClaimController::LookAtPod(const std::string& key) {
  const RevisionPtr pod = FindByKey(context_.plane.store(), ResourceOf("v1", "Pod"), key);
  if (pod == nullptr || !WatchedPod(pod).is_active()) return;
  const json::object document = pod->Document();
  const json::array* entries = FindArray(document, {"spec", "resourceClaims"});
  if (entries == nullptr) return;
  json::array noted;
  for (const json::value& entry : *entries) {
    if (!entry.is_object() || TextAt(entry.get_object(), {"resourceClaimTemplateName"}).empty()) continue;
    const std::string_view name = TextAt(entry.get_object(), {"name"});
    if (!NotedClaim(document, name).empty()) continue;
    const std::string claim = EnsureClaim(*pod, entry.get_object());
    if (claim.empty()) continue;
    json::object status;
    status["name"] = name;
    status["resourceClaimName"] = claim;
    noted.push_back(std::move(status));
  }
  if (noted.empty()) return;
  static_cast<void>(ChangeStatus(context_.plane.writer(), *pod, [&](json::object& changed) {
    json::array& statuses = ArrayAt(changed, {"status", "resourceClaimStatuses"});
    for (const json::value& status : noted) statuses.push_back(status);
  }));
}

std::string ResourceClaimController::EnsureClaim(const Revision& pod, const json::object& entry) {
  const std::string_view entry_name = TextAt(entry, {"name"});
  // It may have been made and not noted.
  for (const RevisionPtr& claim : context_.owners.ManagedBy(pod.uid(), claims_)) {
    if (TextAt(claim->Document(), {"metadata", "annotations", kPodClaimName}) == entry_name) {
      return std::string(claim->name());
    }
  }
  const std::string_view template_name = TextAt(entry, {"resourceClaimTemplateName"});
  const RevisionPtr pattern = context_.plane.store().Find(templates_, pod.namespace_name(), template_name);
  if (pattern == nullptr) {
    waiting_[ObjectKey(templates_, pod.namespace_name(), template_name)].push_back(pod.key());
    context_.events.Record(pod, {kResourceClaimComponent, "FailedResourceClaimCreation",
                                 fmt::format("PodResourceClaim {}: resource claim template \"{}\": "
                                             "resourceclaimtemplate.resource.k8s.io \"{}\" not found",
                                             entry_name, template_name, template_name),
                                 true});
    return "";
  }
  const json::object source = pattern->Document();
  json::object claim;
  if (const json::value* spec = FindValue(source, {"spec", "spec"})) claim["spec"] = *spec;
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const json::value* value = FindValue(source, {"spec", "metadata", key})) {
      ObjectAt(claim, {"metadata"})[key] = *value;
    }
  }
  ObjectAt(claim, {"metadata"})["generateName"] = fmt::format("{}-{}-", pod.name(), entry_name);
  ObjectAt(claim, {"metadata", "annotations"})[kPodClaimName] = entry_name;
  SetController(claim, pod);
  const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
      {.resource = &claims_, .namespace_name = std::string(pod.namespace_name())}, std::move(claim));
  if (created) return std::string((*created)->name());
  context_.events.Record(pod,
                         {kResourceClaimComponent, "FailedResourceClaimCreation",
                          fmt::format("PodResourceClaim {}: {}", entry_name, created.error().message), true});
  pod_queue_.AddAfter(pod.key(), kRetryDelay);
  return "";
}

void ResourceClaimController::LookAtClaim(const std::string& key) {
  const RevisionPtr claim = FindByKey(context_.plane.store(), claims_, key);
  if (claim == nullptr) return;
  const json::object document = claim->Document();
  const Resource& pods = ResourceOf("v1", "Pod");
  const auto is_needed = [&](const json::value& entry) {
    if (!entry.is_object() || TextAt(entry.get_object(), {"resource"}) != "pods") return true;
    const RevisionPtr pod =
        context_.plane.store().Find(pods, claim->namespace_name(), TextAt(entry.get_object(), {"name"}));
    return pod != nullptr && pod->uid() == TextAt(entry.get_object(), {"uid"}) &&
           !WatchedPod(pod).is_finished();
  };
  json::array kept;
  const json::array* reserved = FindArray(document, {"status", "reservedFor"});
  if (reserved != nullptr) std::ranges::copy_if(*reserved, std::back_inserter(kept), is_needed);
  const bool is_allocated = FindObject(document, {"status", "allocation"}) != nullptr;
  const bool lost_some = reserved != nullptr && kept.size() < reserved->size();
  const bool frees = kept.empty() && is_allocated && (lost_some || claim->is_terminating());
  RevisionPtr current = claim;
  if (lost_some || frees) {
    const ApiResult<RevisionPtr> written =
        ChangeStatus(context_.plane.writer(), *claim, [&](json::object& changed) {
          json::object& status = ObjectAt(changed, {"status"});
          status["reservedFor"] = kept;
          if (!frees) return;
          status.erase("allocation");
          status.erase("devices");
        });
    if (!written) return;
    current = *written;
  }
  // Not from a claim that nobody has used yet: a scheduler protects it first and allocates it then.
  const bool is_done = kept.empty() && (frees || (!is_allocated && (lost_some || claim->is_terminating())));
  if (is_done && HasFinalizer(document, kDeleteProtection)) {
    static_cast<void>(ChangeObject(context_.plane.writer(), *current,
                                   [](json::object& changed) { DropFinalizer(changed, kDeleteProtection); }));
  }
  // A claim that was made for a pod is of no use once the pod is done.
  const std::string_view owner = claim->controller_uid();
  if (owner.empty() || claim->is_terminating() || !kept.empty()) return;
  const json::array* references = FindArray(document, {"metadata", "ownerReferences"});
  for (const json::value& reference : *references) {
    if (!reference.is_object() || TextAt(reference.get_object(), {"uid"}) != owner ||
        TextAt(reference.get_object(), {"kind"}) != "Pod") {
      continue;
    }
    const RevisionPtr pod =
        context_.plane.store().Find(pods, claim->namespace_name(), TextAt(reference.get_object(), {"name"}));
    if (pod != nullptr && pod->uid() == owner && WatchedPod(pod).is_finished()) {
      static_cast<void>(context_.plane.writer().Delete(TargetOf(*claim), {.uid = claim->uid()}));
    }
  }
}

}  // namespace berth::sandbox
