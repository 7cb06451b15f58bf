#include "sandbox/admission_topology.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kTopologyLabels[] = {"topology.kubernetes.io/zone",
                                                "topology.kubernetes.io/region"};

// Keys that the pod lacks are skipped, and so are terms without a selector.
void FoldKeys(const json::object& pod, json::object& term, std::string_view list, std::string_view op) {
  const json::array* keys = FindArray(term, {list});
  if (keys == nullptr || FindObject(term, {"labelSelector"}) == nullptr) return;
  const json::array copy = *keys;
  for (const json::value& key : copy) {
    if (!key.is_string()) continue;
    const json::value* value = FindValue(pod, {"metadata", "labels", ViewOf(key.get_string())});
    if (value == nullptr) continue;
    json::object requirement;
    requirement["key"] = key;
    requirement["operator"] = op;
    requirement["values"] = json::array({*value});
    ArrayAt(term, {"labelSelector", "matchExpressions"}).push_back(std::move(requirement));
  }
}

void FoldTerms(const json::object& labels_of, json::array* terms, bool is_weighted) {
  if (terms == nullptr) return;
  for (json::value& entry : *terms) {
    json::object* term = entry.if_object();
    if (term != nullptr && is_weighted) term = FindObject(*term, {"podAffinityTerm"});
    if (term == nullptr) continue;
    FoldKeys(labels_of, *term, "matchLabelKeys", "In");
    FoldKeys(labels_of, *term, "mismatchLabelKeys", "NotIn");
  }
}

}  // namespace

void FoldMatchLabelKeys(json::object& pod) {
  // The labels are read while the spec is written: from a copy, so that nothing moves.
  json::object labels;
  if (const json::value* found = FindValue(pod, {"metadata", "labels"})) {
    ObjectAt(labels, {"metadata"})["labels"] = *found;
  }
  json::object* spec = FindObject(pod, {"spec"});
  if (spec == nullptr) return;
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    FoldTerms(labels, FindArray(*spec, {"affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"}),
              false);
    FoldTerms(labels, FindArray(*spec, {"affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution"}),
              true);
  }
  json::array* constraints = FindArray(*spec, {"topologySpreadConstraints"});
  if (constraints == nullptr) return;
  for (json::value& constraint : *constraints) {
    if (constraint.is_object()) FoldKeys(labels, constraint.get_object(), "matchLabelKeys", "In");
  }
}

void CopyTopologyLabels(json::object& pod, const AdmissionContext& context) {
  static const Resource& nodes = ResourceOf("v1", "Node");
  const std::string node_name(TextAt(pod, {"spec", "nodeName"}));
  if (node_name.empty()) return;
  const RevisionPtr node = context.lookup.Find(nodes, "", node_name);
  if (node == nullptr) return;
  for (const std::string_view label : kTopologyLabels) {
    if (const std::string* value = node->labels().find(label))
      ObjectAt(pod, {"metadata", "labels"})[label] = *value;
  }
}

}  // namespace berth::sandbox
