#include "sandbox/table_columns.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>

#include "api/time.h"
#include "sandbox/document.h"
#include "sandbox/pod_summary.h"
#include "sandbox/table.h"
#include "sandbox/text_parts.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;
using Columns = std::vector<Column>;

const json::value* AtPath(const json::object& object, std::string_view path) {
  const json::value* value = nullptr;
  const json::object* at = &object;
  for (const std::string_view step : SplitText(path, '.')) {
    value = at != nullptr ? at->if_contains(step) : nullptr;
    if (value == nullptr) return nullptr;
    at = value->if_object();
  }
  return value;
}

std::string TextOr(const json::object& object, std::string_view path, std::string_view otherwise) {
  const json::value* value = AtPath(object, path);
  if (value == nullptr) return std::string(otherwise);
  if (const json::string* text = value->if_string())
    return std::string(text->empty() ? otherwise : ViewOf(*text));
  if (const std::int64_t* number = value->if_int64()) return std::to_string(*number);
  return std::string(otherwise);
}

Column Text(std::string_view name, std::string_view path, std::string_view otherwise = "", int priority = 0) {
  return {name, "string", priority, [=](const json::object& object, base::WallPoint) -> json::value {
            return json::value(TextOr(object, path, otherwise));
          }};
}

// Some columns hold numbers and say that they hold text.
Column Number(std::string_view name, std::string_view path, std::string_view type = "integer") {
  return {name, type, 0, [=](const json::object& object, base::WallPoint) -> json::value {
            const json::value* value = AtPath(object, path);
            return value != nullptr && value->is_int64() ? *value : json::value(0);
          }};
}

std::string AgeOf(const json::object& object, std::string_view path, base::WallPoint now) {
  const base::Result<api::Time> time = api::ParseTime(TextOr(object, path, ""));
  if (!time) return "<unknown>";
  return HumanDuration(now.time_since_epoch() - std::chrono::seconds(time->unix_seconds));
}

Column Name() { return Text("Name", "metadata.name"); }

Column Age() {
  return {"Age", "string", 0, [](const json::object& object, base::WallPoint now) -> json::value {
            return json::value(AgeOf(object, "metadata.creationTimestamp", now));
          }};
}

// From the start to the end, or to now.
Column JobDuration() {
  return {"Duration", "string", 0, [](const json::object& object, base::WallPoint now) -> json::value {
            const std::optional<std::int64_t> start = SecondsAt(object, {"status", "startTime"});
            if (!start) return json::value("");
            const std::int64_t end = SecondsAt(object, {"status", "completionTime"}).value_or(SecondsOf(now));
            return json::value(HumanDuration(std::chrono::seconds(end - *start)));
          }};
}

Column Made(std::string_view name, std::function<std::string(const json::object&)> text, int priority = 0) {
  return {name, "string", priority, [text = std::move(text)](const json::object& object, base::WallPoint) {
            return json::value(text(object));
          }};
}

// "name=value,..." of a map at the path.
std::string PairsAt(const json::object& object, std::string_view path) {
  const json::value* value = AtPath(object, path);
  const json::object* pairs = value != nullptr ? value->if_object() : nullptr;
  if (pairs == nullptr || pairs->empty()) return "<none>";
  std::vector<std::string> words;
  for (const json::key_value_pair& pair : *pairs) {
    const json::string* text = pair.value().if_string();
    words.push_back(fmt::format("{}={}", std::string(pair.key()), text != nullptr ? ViewOf(*text) : ""));
  }
  std::ranges::sort(words);
  return JoinText(words, ",");
}

std::string JoinContainers(const json::object& object, std::string_view key) {
  const json::array* containers = FindArray(object, {"spec", "template", "spec", "containers"});
  std::vector<std::string> words;
  if (containers != nullptr) {
    for (const json::value& container : *containers) {
      if (container.is_object()) words.push_back(TextOr(container.get_object(), key, ""));
    }
  }
  return JoinText(words, ",");
}

void AddTemplateColumns(Columns& columns, std::string_view selector_path) {
  columns.push_back(Made("Containers", [](const json::object& o) { return JoinContainers(o, "name"); }, 1));
  columns.push_back(Made("Images", [](const json::object& o) { return JoinContainers(o, "image"); }, 1));
  if (selector_path.empty()) return;
  columns.push_back(Made("Selector", [=](const json::object& o) { return PairsAt(o, selector_path); }, 1));
}

std::string Ratio(const json::object& object, std::string_view part, std::string_view whole) {
  return TextOr(object, part, "0") + "/" + TextOr(object, whole, "0");
}

Columns PodColumns() {
  return {Name(),
          Made("Ready", PodReady),
          Made("Status", PodStatus),
          Made("Restarts", PodRestarts),
          Age(),
          Text("IP", "status.podIP", "<none>", 1),
          Text("Node", "spec.nodeName", "<none>", 1),
          Text("Nominated Node", "status.nominatedNodeName", "<none>", 1),
          Made("Readiness Gates", PodReadinessGates, 1)};
}

std::string NodeStatus(const json::object& node) {
  std::string text = "Unknown";
  if (const json::array* conditions = FindArray(node, {"status", "conditions"})) {
    for (const json::value& condition : *conditions) {
      if (!condition.is_object() || TextOr(condition.get_object(), "type", "") != "Ready") continue;
      const std::string status = TextOr(condition.get_object(), "status", "");
      text = status == "True" ? "Ready" : "NotReady";
    }
  }
  if (FlagAt(node, {"spec", "unschedulable"})) text += ",SchedulingDisabled";
  return text;
}

std::string NodeRoles(const json::object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  if (const json::object* labels = FindObject(node, {"metadata", "labels"})) {
    for (const json::key_value_pair& label : *labels) {
      const std::string_view key(label.key().data(), label.key().size());
      if (key.starts_with(kPrefix)) roles.emplace_back(key.substr(kPrefix.size()));
    }
  }
  std::ranges::sort(roles);
  return roles.empty() ? "<none>" : JoinText(roles, ",");
}

Column NodeAddress(std::string_view name, std::string_view type) {
  return Made(
      name,
      [=](const json::object& node) -> std::string {
        if (const json::array* addresses = FindArray(node, {"status", "addresses"})) {
          for (const json::value& address : *addresses) {
            if (address.is_object() && TextOr(address.get_object(), "type", "") == type) {
              return TextOr(address.get_object(), "address", "<none>");
            }
          }
        }
        return "<none>";
      },
      1);
}

Columns NodeColumns() {
  return {Name(),
          Made("Status", NodeStatus),
          Made("Roles", NodeRoles),
          Age(),
          Text("Version", "status.nodeInfo.kubeletVersion"),
          NodeAddress("Internal-IP", "InternalIP"),
          NodeAddress("External-IP", "ExternalIP"),
          Text("OS-Image", "status.nodeInfo.osImage", "<unknown>", 1),
          Text("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>", 1),
          Text("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>", 1)};
}

std::string EventObject(const json::object& event) {
  return LowerCase(TextOr(event, "involvedObject.kind", "")) + "/" + TextOr(event, "involvedObject.name", "");
}

// Newer clients leave the old timestamps empty.
std::string EventTime(const json::object& event, std::string_view path, base::WallPoint now) {
  for (const std::string_view candidate :
       {std::string_view("series.lastObservedTime"), path, std::string_view("eventTime")}) {
    if (candidate == "series.lastObservedTime" && path == "firstTimestamp") continue;
    if (!TextOr(event, candidate, "").empty()) return AgeOf(event, candidate, now);
  }
  return "<unknown>";
}

Column EventAge(std::string_view name, std::string_view path, int priority) {
  return {name, "string", priority, [=](const json::object& event, base::WallPoint now) {
            return json::value(EventTime(event, path, now));
          }};
}

Columns EventColumns() {
  return {EventAge("Last Seen", "lastTimestamp", 0),
          Text("Type", "type"),
          Text("Reason", "reason"),
          Made("Object", EventObject),
          Text("Subobject", "involvedObject.fieldPath", "", 1),
          Made(
              "Source",
              [](const json::object& e) {
                return TextOr(e, "source.component", TextOr(e, "reportingComponent", ""));
              },
              1),
          Text("Message", "message"),
          EventAge("First Seen", "firstTimestamp", 1),
          Made(
              "Count",
              [](const json::object& e) { return TextOr(e, "series.count", TextOr(e, "count", "1")); }, 1),
          Text("Name", "metadata.name", "", 1)};
}

std::string AccessModes(const json::object& object, std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {{"ReadWriteOnce", "RWO"},
                                                                      {"ReadOnlyMany", "ROX"},
                                                                      {"ReadWriteMany", "RWX"},
                                                                      {"ReadWriteOncePod", "RWOP"}};
  const json::value* modes = AtPath(object, path);
  std::vector<std::string> words;
  if (modes != nullptr && modes->is_array()) {
    for (const json::value& mode : modes->get_array()) {
      for (const auto& [name, text] : kShort) {
        if (mode.is_string() && ViewOf(mode.get_string()) == name) words.emplace_back(text);
      }
    }
  }
  return JoinText(words, ",");
}

std::string ServicePorts(const json::object& service) {
  std::vector<std::string> words;
  if (const json::array* ports = FindArray(service, {"spec", "ports"})) {
    for (const json::value& entry : *ports) {
      if (!entry.is_object()) continue;
      const json::object& port = entry.get_object();
      std::string text = TextOr(port, "port", "");
      if (const std::int64_t node = NumberAt(port, {"nodePort"}); node != 0) text += fmt::format(":{}", node);
      words.push_back(text + "/" + TextOr(port, "protocol", "TCP"));
    }
  }
  return words.empty() ? "<none>" : JoinText(words, ",");
}

Column EntryCount(std::initializer_list<std::string_view> keys) {
  return {"Data", "string", 0,
          [keys = std::vector(keys)](const json::object& object, base::WallPoint) -> json::value {
            std::size_t count = 0;
            for (const std::string_view key : keys) {
              const json::object* entries = FindObject(object, {key});
              if (entries != nullptr) count += entries->size();
            }
            return json::value(count);
          }};
}

Column Flag(std::string_view name, std::string_view key, std::string_view type) {
  return {name, type, 0, [=](const json::object& object, base::WallPoint) -> json::value {
            return json::value(FlagAt(object, {key}));
          }};
}

std::string JobStatus(const json::object& job) {
  if (const json::array* conditions = FindArray(job, {"status", "conditions"})) {
    for (const json::value& entry : *conditions) {
      if (!entry.is_object() || TextOr(entry.get_object(), "status", "") != "True") continue;
      const std::string type = TextOr(entry.get_object(), "type", "");
      if (type == "Complete" || type == "Failed" || type == "Suspended") return type;
    }
  }
  return FindValue(job, {"metadata", "deletionTimestamp"}) != nullptr ? "Terminating" : "Running";
}

std::string ClaimState(const json::object& claim) {
  std::vector<std::string> states;
  if (FindValue(claim, {"metadata", "deletionTimestamp"}) != nullptr) states.emplace_back("deleted");
  if (FindValue(claim, {"status", "allocation"}) != nullptr) states.emplace_back("allocated");
  const json::array* reserved = FindArray(claim, {"status", "reservedFor"});
  if (reserved != nullptr && !reserved->empty()) states.emplace_back("reserved");
  return states.empty() ? "pending" : JoinText(states, ",");
}

Columns WithTemplate(Columns columns, std::string_view selector_path) {
  AddTemplateColumns(columns, selector_path);
  return columns;
}

std::map<std::string_view, Columns> WorkloadColumns() {
  const Columns replicas = {Name(), Number("Desired", "spec.replicas"), Number("Current", "status.replicas"),
                            Number("Ready", "status.readyReplicas"), Age()};
  std::map<std::string_view, Columns> tables;
  tables["replicasets"] = WithTemplate(replicas, "spec.selector.matchLabels");
  tables["replicationcontrollers"] = WithTemplate(replicas, "spec.selector");
  tables["deployments"] = WithTemplate(
      {Name(),
       Made("Ready", [](const json::object& o) { return Ratio(o, "status.readyReplicas", "spec.replicas"); }),
       Number("Up-to-date", "status.updatedReplicas", "string"),
       Number("Available", "status.availableReplicas", "string"), Age()},
      "spec.selector.matchLabels");
  tables["statefulsets"] = WithTemplate(
      {Name(),
       Made("Ready", [](const json::object& o) { return Ratio(o, "status.readyReplicas", "spec.replicas"); }),
       Age()},
      "");
  tables["daemonsets"] = WithTemplate(
      {Name(), Number("Desired", "status.desiredNumberScheduled"),
       Number("Current", "status.currentNumberScheduled"), Number("Ready", "status.numberReady"),
       Number("Up-to-date", "status.updatedNumberScheduled"), Number("Available", "status.numberAvailable"),
       Made("Node Selector",
            [](const json::object& o) { return PairsAt(o, "spec.template.spec.nodeSelector"); }),
       Age()},
      "spec.selector.matchLabels");
  tables["jobs"] = WithTemplate({Name(), Made("Status", JobStatus),
                                 Made("Completions",
                                      [](const json::object& o) {
                                        return TextOr(o, "status.succeeded", "0") + "/" +
                                               TextOr(o, "spec.completions", "1");
                                      }),
                                 JobDuration(), Age()},
                                "spec.selector.matchLabels");
  tables["poddisruptionbudgets"] = {Name(), Text("Min Available", "spec.minAvailable", "N/A"),
                                    Text("Max Unavailable", "spec.maxUnavailable", "N/A"),
                                    Number("Allowed Disruptions", "status.disruptionsAllowed"), Age()};
  return tables;
}

void AddStorageColumns(std::map<std::string_view, Columns>& tables) {
  tables["persistentvolumes"] = {
      Name(),
      Text("Capacity", "spec.capacity.storage"),
      Made("Access Modes", [](const json::object& o) { return AccessModes(o, "spec.accessModes"); }),
      Text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
      Text("Status", "status.phase"),
      Made("Claim",
           [](const json::object& o) {
             const std::string name = TextOr(o, "spec.claimRef.name", "");
             return name.empty() ? name : TextOr(o, "spec.claimRef.namespace", "") + "/" + name;
           }),
      Text("StorageClass", "spec.storageClassName"),
      Text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
      Text("Reason", "status.reason"),
      Age(),
      Text("VolumeMode", "spec.volumeMode", "<unset>", 1)};
  tables["persistentvolumeclaims"] = {
      Name(),
      Text("Status", "status.phase"),
      Text("Volume", "spec.volumeName"),
      Text("Capacity", "status.capacity.storage"),
      Made("Access Modes", [](const json::object& o) { return AccessModes(o, "status.accessModes"); }),
      Text("StorageClass", "spec.storageClassName"),
      Text("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>"),
      Age(),
      Text("VolumeMode", "spec.volumeMode", "<unset>", 1)};
  tables["storageclasses"] = {Name(),
                              Text("Provisioner", "provisioner"),
                              Text("ReclaimPolicy", "reclaimPolicy", "Delete"),
                              Text("VolumeBindingMode", "volumeBindingMode", "<unset>"),
                              Flag("AllowVolumeExpansion", "allowVolumeExpansion", "string"),
                              Age()};
  tables["csinodes"] = {Name(),
                        {"Drivers", "integer", 0,
                         [](const json::object& o, base::WallPoint) -> json::value {
                           const json::array* drivers = FindArray(o, {"spec", "drivers"});
                           return json::value(drivers != nullptr ? drivers->size() : 0);
                         }},
                        Age()};
}

std::map<std::string_view, Columns> MakeTables() {
  std::map<std::string_view, Columns> tables = WorkloadColumns();
  AddStorageColumns(tables);
  tables["pods"] = PodColumns();
  tables["nodes"] = NodeColumns();
  tables["events"] = EventColumns();
  tables["namespaces"] = {Name(), Text("Status", "status.phase"), Age()};
  tables["services"] = {
      Name(),
      Text("Type", "spec.type", "ClusterIP"),
      Text("Cluster-IP", "spec.clusterIP", "<none>"),
      Text("External-IP", "spec.externalName", "<none>"),
      Made("Port(s)", ServicePorts),
      Age(),
      Made("Selector", [](const json::object& o) { return PairsAt(o, "spec.selector"); }, 1)};
  tables["configmaps"] = {Name(), EntryCount({"data", "binaryData"}), Age()};
  tables["secrets"] = {Name(), Text("Type", "type"), EntryCount({"data"}), Age()};
  tables["leases"] = {Name(), Text("Holder", "spec.holderIdentity"), Age()};
  tables["priorityclasses"] = {Name(), Number("Value", "value"),
                               Flag("Global-Default", "globalDefault", "boolean"), Age(),
                               Text("PreemptionPolicy", "preemptionPolicy", "PreemptLowerPriority")};
  tables["resourceclaims"] = {Name(), Made("State", ClaimState), Age()};
  tables["resourceslices"] = {Name(), Text("Node", "spec.nodeName"), Text("Driver", "spec.driver"),
                              Text("Pool", "spec.pool.name"), Age()};
  tables["podgroups"] = {
      Name(),
      Made("Policy",
           [](const json::object& o) {
             return std::string(FindObject(o, {"spec", "schedulingPolicy", "gang"}) != nullptr ? "Gang"
                                                                                               : "Basic");
           }),
      Text("Workload", "spec.podGroupTemplateRef.workload.workloadName", "<none>"),
      Made("Status", [](const json::object&) { return std::string(); }), Age()};
  return tables;
}

}  // namespace

std::span<const Column> ColumnsOf(const Resource& resource) {
  static const std::map<std::string_view, Columns> tables = MakeTables();
  static const Columns plain = {Name(), Age()};
  const auto it = tables.find(resource.plural);
  return it != tables.end() ? it->second : plain;
}

}  // namespace berth::sandbox
