#include "sandbox/admission.h"

#include <boost/json.hpp>

#include "api/time.h"
#include "api/wall_time.h"
#include "sandbox/admission_pod.h"
#include "sandbox/admission_workload.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

bool IsCore(const Resource& resource, std::string_view kind) {
  return resource.group.empty() && resource.kind == kind;
}

// Everything but what the server itself keeps about the object.
bool SpecEquals(const json::object& a, const json::object& b) {
  const auto part_of_spec = [](json::string_view key) {
    return key != "metadata" && key != "status" && key != "kind" && key != "apiVersion";
  };
  const auto covered = [&](const json::object& left, const json::object& right) {
    for (const json::key_value_pair& member : left) {
      if (!part_of_spec(member.key())) continue;
      const json::value* other = right.if_contains(member.key());
      if (other == nullptr || *other != member.value()) return false;
    }
    return true;
  };
  return covered(a, b) && covered(b, a);
}

void KeepFrom(json::object& document, const json::object& old, std::string_view key) {
  const json::value* kept = old.if_contains(key);
  if (kept != nullptr) {
    document[key] = *kept;
  } else {
    document.erase(key);
  }
}

// A Deployment's annotations are handed down to what it makes, so they count there. What a PriorityClass is
// never changes.
bool ChangesGeneration(const Resource& resource, const json::object& document, const json::object& old) {
  if (resource.kind == "PriorityClass") return false;
  if (!SpecEquals(document, old)) return true;
  if (resource.kind != "Deployment") return false;
  const json::object* const now = FindObject(document, {"metadata", "annotations"});
  const json::object* const before = FindObject(old, {"metadata", "annotations"});
  if (now == nullptr || before == nullptr) return now != before;
  return *now != *before;
}

void LabelWithName(json::object& document) {
  // A copy: making room for the labels moves what the metadata holds.
  const std::string name(TextAt(document, {"metadata", "name"}));
  ObjectAt(document, {"metadata", "labels"})["kubernetes.io/metadata.name"] = name;
}

void AdmitNamespace(json::object& document) {
  LabelWithName(document);
  ObjectAt(document, {"spec"})["finalizers"] = json::array({"kubernetes"});
  ObjectAt(document, {"status"})["phase"] = "Active";
}

void AdmitNode(json::object& document) {
  const json::object* capacity = FindObject(document, {"status", "capacity"});
  if (capacity == nullptr || FindObject(document, {"status", "allocatable"}) != nullptr) return;
  const json::object copy = *capacity;
  ObjectAt(document, {"status"})["allocatable"] = copy;
}

// A volume is available once the controller has seen it.
void AdmitVolume(json::object& document, const AdmissionContext& context) {
  json::object& status = ObjectAt(document, {"status"});
  status["phase"] = "Pending";
  status["lastPhaseTransitionTime"] = api::FormatTime(api::TimeOf(context.now));
}

// When a volume got into its phase, unless whoever moved it says so.
void NotePhase(json::object& document, const json::object& old, const AdmissionContext& context) {
  json::object& status = ObjectAt(document, {"status"});
  const std::string_view given = TextAt(status, {"lastPhaseTransitionTime"});
  const std::string_view before = TextAt(old, {"status", "lastPhaseTransitionTime"});
  const bool is_same = TextAt(status, {"phase"}) == TextAt(old, {"status", "phase"});
  if (is_same && given.empty() && !before.empty()) status["lastPhaseTransitionTime"] = before;
  if (!is_same && (given.empty() || given == before)) {
    status["lastPhaseTransitionTime"] = api::FormatTime(api::TimeOf(context.now));
  }
}

}  // namespace

void ApplyDefaults(const Resource& resource, json::object& document) {
  if (IsCore(resource, "Pod")) {
    DefaultPod(document);
    // Of a pod alone: templates do not get these.
    json::object& spec = ObjectAt(document, {"spec"});
    SetDefault(spec, "enableServiceLinks", true);
    if (NumberAt(spec, {"terminationGracePeriodSeconds"}) < 0) spec["terminationGracePeriodSeconds"] = 1;
  }
  DefaultOtherKinds(resource, document);
}

ApiResult<void> AdmitCreate(const Resource& resource, json::object& document,
                            const AdmissionContext& context) {
  if (resource.has_status() && !resource.keeps_status_on_create) document["status"] = json::object();
  if (resource.has_generation) ObjectAt(document, {"metadata"})["generation"] = 1;
  if (IsCore(resource, "Pod")) return AdmitPod(document, context);
  if (IsCore(resource, "Namespace")) AdmitNamespace(document);
  if (IsCore(resource, "Node")) AdmitNode(document);
  if (IsCore(resource, "PersistentVolume")) AdmitVolume(document, context);
  if (IsCore(resource, "PersistentVolumeClaim")) AdmitClaim(document, context);
  if (IsCore(resource, "Service")) AdmitService(document);
  if (resource.group == "batch" && resource.kind == "Job") AdmitJob(document);
  return {};
}

ApiResult<void> AdmitUpdate(const Resource& resource, json::object& document, const json::object& old,
                            const AdmissionContext&) {
  if (resource.has_status()) KeepFrom(document, old, "status");
  if (IsCore(resource, "Pod")) {
    AddDefaultTolerations(document);
    // What the admission of priorities once set; who writes a pod anew need not know it.
    for (const std::string_view key : {"priority", "preemptionPolicy"}) {
      const json::value* const kept = FindValue(old, {"spec", key});
      if (kept != nullptr) SetDefault(ObjectAt(document, {"spec"}), key, *kept);
    }
  }
  if (IsCore(resource, "Namespace")) LabelWithName(document);
  if (resource.has_generation && ChangesGeneration(resource, document, old)) {
    ObjectAt(document, {"metadata"})["generation"] = NumberAt(old, {"metadata", "generation"}) + 1;
  }
  return {};
}

ApiResult<void> AdmitStatusUpdate(const Resource& resource, json::object& document, const json::object& old,
                                  const AdmissionContext& context) {
  json::object kept = old;
  kept["status"] = document["status"];
  if (IsCore(resource, "PersistentVolume")) NotePhase(kept, old, context);
  if (IsCore(resource, "Pod")) {
    for (const std::string_view key : {"labels", "annotations", "finalizers"}) {
      KeepFrom(ObjectAt(kept, {"metadata"}), ObjectAt(document, {"metadata"}), key);
    }
  }
  document = std::move(kept);
  return {};
}

}  // namespace berth::sandbox
