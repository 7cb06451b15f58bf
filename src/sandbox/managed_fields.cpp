#include "sandbox/managed_fields.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_ownership.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kBeforeFirstApply = "before-first-apply";

// What the server alone writes belongs to nobody.
constexpr std::string_view kUnownedMetadata[] = {
    "f:name",
    "f:namespace",
    "f:creationTimestamp",
    "f:selfLink",
    "f:uid",
    "f:generation",
    "f:managedFields",
    "f:deletionGracePeriodSeconds",
    "f:deletionTimestamp",
    "f:resourceVersion",
};

// The fields that a write through this endpoint can own.
FieldSet Ownable(const Resource& served, std::string_view subresource, const FieldSet& fields) {
  FieldSet owned;
  for (const auto& [element, below] : fields.children()) {
    if (element == "f:apiVersion" || element == "f:kind") continue;
    const bool is_status = element == "f:status" && served.has_status();
    if (subresource == "status" ? !is_status : is_status) continue;
    owned.Below(element).Add(below);
    if (element != "f:metadata") continue;
    FieldSet unowned;
    for (const std::string_view name : kUnownedMetadata) unowned.Below(name).Insert();
    owned.Below(element).RemoveBelow(unowned);
  }
  owned.Prune();
  return owned;
}

std::string Describe(const ManagerEntry& entry) {
  std::string text = base::QuoteGo(entry.manager);
  if (!entry.subresource.empty())
    text += fmt::format(" with subresource {}", base::QuoteGo(entry.subresource));
  if (!entry.applies) text += fmt::format(" using {}", entry.api_version);
  return text;
}

struct Conflicting {
  std::string manager;
  std::string path;
};

StatusError ApplyConflict(const std::vector<Conflicting>& conflicts) {
  StatusError error{.code = 409, .reason = "Conflict"};
  for (const Conflicting& conflict : conflicts) {
    error.causes.push_back({"FieldManagerConflict", "conflict with " + conflict.manager, conflict.path});
  }
  if (conflicts.size() == 1) {
    error.message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                                conflicts.front().manager, conflicts.front().path);
    return error;
  }
  std::map<std::string, std::string> by_manager;
  for (const Conflicting& conflict : conflicts) by_manager[conflict.manager] += "\n- " + conflict.path;
  std::string text;
  for (const auto& [manager, paths] : by_manager) {
    if (!text.empty()) text += '\n';
    text += fmt::format("conflicts with {}:{}", manager, paths);
  }
  error.message = fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), text);
  return error;
}

ManagerEntry& EntryFor(std::vector<ManagerEntry>& managers, const ManagerEntry& wanted) {
  const auto it =
      std::ranges::find_if(managers, [&](const ManagerEntry& entry) { return entry.IsSameManager(wanted); });
  if (it != managers.end()) return *it;
  managers.push_back(wanted);
  return managers.back();
}

}  // namespace

std::vector<ManagerEntry> ReadManagers(const json::object& document) {
  std::vector<ManagerEntry> managers;
  const json::array* list = FindArray(document, {"metadata", "managedFields"});
  if (list == nullptr) return managers;
  for (const json::value& value : *list) {
    if (!value.is_object()) continue;
    const json::object& entry = value.get_object();
    const json::object* fields = FindObject(entry, {"fieldsV1"});
    managers.push_back({.manager = std::string(TextAt(entry, {"manager"})),
                        .applies = TextAt(entry, {"operation"}) == "Apply",
                        .subresource = std::string(TextAt(entry, {"subresource"})),
                        .api_version = std::string(TextAt(entry, {"apiVersion"})),
                        .time = std::string(TextAt(entry, {"time"})),
                        .fields = fields != nullptr ? FieldSet::FromJson(*fields) : FieldSet()});
  }
  return managers;
}

void WriteManagers(json::object& document, const std::vector<ManagerEntry>& managers) {
  json::array list;
  for (const ManagerEntry& manager : managers) {
    if (manager.fields.empty()) continue;
    json::object entry;
    entry["manager"] = manager.manager;
    entry["operation"] = manager.applies ? "Apply" : "Update";
    entry["apiVersion"] = manager.api_version;
    if (!manager.time.empty()) entry["time"] = manager.time;
    entry["fieldsType"] = "FieldsV1";
    entry["fieldsV1"] = manager.fields.ToJson();
    if (!manager.subresource.empty()) entry["subresource"] = manager.subresource;
    list.push_back(std::move(entry));
  }
  if (list.empty()) {
    RemoveAt(document, {"metadata", "managedFields"});
  } else {
    ObjectAt(document, {"metadata"})["managedFields"] = std::move(list);
  }
}

void TrackWrite(const Resource& served, json::object& document, const json::object* old,
                const ManagedWrite& write) {
  static const json::object kNothing;
  std::vector<ManagerEntry> managers = old != nullptr ? ReadManagers(*old) : std::vector<ManagerEntry>();
  const FieldChanges changes = CompareFields(*served.message, old != nullptr ? *old : kNothing, document);
  const FieldSet changed = Ownable(served, write.subresource, changes.set);
  const FieldSet removed = Ownable(served, write.subresource, changes.removed);
  if (changed.empty() && removed.empty()) {
    WriteManagers(document, managers);
    return;
  }
  for (ManagerEntry& entry : managers) {
    entry.fields.Remove(changed);
    entry.fields.RemoveBelow(removed);
  }
  if (!changed.empty()) {
    ManagerEntry& own = EntryFor(managers, {.manager = std::string(write.manager),
                                            .applies = false,
                                            .subresource = std::string(write.subresource),
                                            .api_version = served.api_version,
                                            .time = {},
                                            .fields = {}});
    own.fields.Add(changed);
    own.time = write.now;
  }
  WriteManagers(document, managers);
}

ApiResult<json::object> ApplyConfiguration(const Resource& served, const json::object& current,
                                           const json::object& config, const ManagedWrite& write,
                                           bool force) {
  std::vector<ManagerEntry> managers = ReadManagers(current);
  const bool is_new = TextAt(current, {"metadata", "uid"}).empty();
  if (managers.empty() && !is_new) {
    // Nobody was asked so far who wrote what: it belongs to everybody before.
    managers.push_back({.manager = std::string(kBeforeFirstApply),
                        .applies = false,
                        .subresource = {},
                        .api_version = served.api_version,
                        .time = std::string(TextAt(current, {"metadata", "creationTimestamp"})),
                        .fields = Ownable(served, "", FieldsOf(*served.message, current))});
  }
  ManagerEntry& own = EntryFor(managers, {.manager = std::string(write.manager),
                                          .applies = true,
                                          .subresource = std::string(write.subresource),
                                          .api_version = served.api_version,
                                          .time = {},
                                          .fields = {}});
  const FieldSet before = own.fields;
  const FieldSet wanted = Ownable(served, write.subresource, FieldsOf(*served.message, config));
  json::object merged = current;
  MergeFields(*served.message, merged, config);

  // What this manager set last time, wants no more, and nobody else owns, goes.
  FieldSet dropped = before;
  dropped.Remove(wanted);
  for (const ManagerEntry& entry : managers) {
    if (&entry != &own) dropped.Remove(entry.fields);
  }
  dropped.Prune();
  if (!dropped.empty()) RemoveFields(*served.message, merged, dropped);

  const FieldChanges changes = CompareFields(*served.message, current, merged);
  const FieldSet changed = Ownable(served, write.subresource, changes.set);
  std::vector<Conflicting> conflicts;
  for (ManagerEntry& entry : managers) {
    if (&entry == &own) continue;
    const FieldSet taken = entry.fields.Intersect(changed);
    for (std::string& path : taken.Paths()) conflicts.push_back({Describe(entry), std::move(path)});
    entry.fields.Remove(taken);
  }
  if (!conflicts.empty() && !force) return Refuse(ApplyConflict(conflicts));

  own.fields = wanted;
  if (before != wanted || !changed.empty() || !changes.removed.empty()) own.time = write.now;
  WriteManagers(merged, managers);
  return merged;
}

}  // namespace berth::sandbox
