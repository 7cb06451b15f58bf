#include "sandbox/controllers/ephemeral_volumes.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"

namespace berth::sandbox {

namespace json = boost::json;

EphemeralVolumes::EphemeralVolumes(const ControllerContext& context)
    : context_(context),
      claims_(ResourceOf("v1", "PersistentVolumeClaim")),
      queue_(context.plane, [this](const std::string& key) { LookAtPod(key); }) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(ResourceOf("v1", "Pod"),
                                  [&](const RevisionPtr& pod) { queue_.Add(pod->key()); });
}

void EphemeralVolumes::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  if (before == nullptr) queue_.Add(after->revision().key());
}

void EphemeralVolumes::LookAtPod(const std::string& key) {
  const RevisionPtr pod = FindByKey(context_.plane.store(), ResourceOf("v1", "Pod"), key);
  if (pod == nullptr || !WatchedPod(pod).is_active()) return;
  const json::object document = pod->Document();
  const json::array* volumes = FindArray(document, {"spec", "volumes"});
  if (volumes == nullptr) return;
  for (const json::value& entry : *volumes) {
    if (!entry.is_object()) continue;
    const json::object* pattern = FindObject(entry.get_object(), {"ephemeral", "volumeClaimTemplate"});
    if (pattern == nullptr) continue;
    const std::string name = fmt::format("{}-{}", pod->name(), TextAt(entry.get_object(), {"name"}));
    if (context_.plane.store().Find(claims_, pod->namespace_name(), name) != nullptr) continue;
    json::object claim;
    if (const json::value* spec = FindValue(*pattern, {"spec"})) claim["spec"] = *spec;
    for (const std::string_view part : {"labels", "annotations"}) {
      const json::value* value = FindValue(*pattern, {"metadata", part});
      if (value != nullptr) ObjectAt(claim, {"metadata"})[part] = *value;
    }
    ObjectAt(claim, {"metadata"})["name"] = name;
    SetController(claim, *pod);
    const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
        {.resource = &claims_, .namespace_name = std::string(pod->namespace_name())}, std::move(claim));
    if (!created) queue_.AddAfter(key, kRetryDelay);
  }
}

}  // namespace berth::sandbox
