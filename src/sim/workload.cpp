#include "sim/workload.h"

#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <utility>

namespace berth::sim {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 3> kZones = {"a", "b", "c"};
constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

json::object SelectorFor(const std::string& app) { return {{"matchLabels", json::object{{"app", app}}}}; }

json::object Term(const std::string& app, std::string_view key) {
  return {{"labelSelector", SelectorFor(app)}, {"topologyKey", key}};
}

json::object NodeDocument(int number) {
  // The size follows from the name alone.
  const int cpus = 2 + number % 3 * 2;
  json::object amounts{{"cpu", std::to_string(cpus)},
                       {"memory", std::to_string(cpus * 2) + "Gi"},
                       {"pods", number % 4 == 0 ? "4" : "110"}};
  const std::string name = fmt::format("node-{}", number);
  return {
      {"metadata",
       json::object{{"name", name},
                    {"labels", json::object{{"kubernetes.io/hostname", name},
                                            {kZoneLabel, kZones[static_cast<std::size_t>(number) % 3]}}}}},
      {"spec", json::object{}},
      {"status", json::object{{"capacity", amounts}, {"allocatable", amounts}}}};
}

sandbox::Target TargetOf(const sandbox::Revision& revision) {
  return {.resource = &revision.resource(),
          .namespace_name = std::string(revision.namespace_name()),
          .name = std::string(revision.name())};
}

}  // namespace

void Workload::Create(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
                      json::object document) {
  document["apiVersion"] = api_version;
  document["kind"] = kind;
  const sandbox::Target target{.resource = &sandbox::ResourceOf(api_version, kind),
                               .namespace_name = std::string(namespace_name)};
  // Something of the name may be there still: then nothing happens, as for a user who is too fast.
  static_cast<void>(plane_.writer().Create(target, std::move(document)));
}

std::vector<sandbox::RevisionPtr> Workload::All(std::string_view api_version, std::string_view kind) const {
  const auto page = plane_.store().List(sandbox::Selection(sandbox::ResourceOf(api_version, kind)));
  return page ? page->items : std::vector<sandbox::RevisionPtr>();
}

sandbox::RevisionPtr Workload::Any(std::string_view api_version, std::string_view kind) {
  const auto all = All(api_version, kind);
  return all.empty() ? nullptr : Pick(all);
}

void Workload::Begin() {
  for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 1000)}) {
    Create("scheduling.k8s.io/v1", "PriorityClass", {},
           {{"metadata", json::object{{"name", name}}}, {"value", value}});
  }
  for (int number = 1; number <= size_.nodes; ++number) AddNode(number);
}

void Workload::Act() {
  const std::uint64_t what = random_.Uniform(100);
  if (what < 55) {
    if (All("v1", "Pod").size() < static_cast<std::size_t>(size_.pods)) CreatePod();
  } else if (what < 75) {
    DeletePod();
  } else if (what < 83) {
    if (const auto pod = Any("v1", "Pod")) OpenGate(pod);
  } else if (what < 88) {
    AddNode(1 + static_cast<int>(random_.Uniform(static_cast<std::uint64_t>(size_.nodes))));
  } else if (what < 91) {
    RemoveNode();
  } else if (what < 98) {
    ChangeNode();
  } else {
    CreateBudget();
  }
}

void Workload::CreatePod() {
  const std::string app = fmt::format("app-{}", random_.Uniform(5));
  const std::string cpu = Pick<std::string>({"100m", "500m", "1", "2", "3"});
  const std::string memory = Pick<std::string>({"64Mi", "1Gi", "2Gi"});
  json::object container{
      {"name", "main"},
      {"image", "app"},
      {"resources", json::object{{"requests", json::object{{"cpu", cpu}, {"memory", memory}}}}}};
  json::object spec;
  if (random_.Chance(0.1)) {
    container["ports"] = json::array{json::object{{"containerPort", 80}, {"hostPort", 8080}}};
  }
  spec["containers"] = json::array{std::move(container)};
  if (random_.Chance(0.4)) spec["priorityClassName"] = Pick<std::string>({"low", "high"});
  if (random_.Chance(0.15)) {
    spec["nodeSelector"] = json::object{{kZoneLabel, kZones[random_.Uniform(kZones.size())]}};
  }
  if (random_.Chance(0.1)) spec["schedulingGates"] = json::array{json::object{{"name", "example.com/wait"}}};
  if (random_.Chance(0.3)) {
    spec["tolerations"] = json::array{json::object{{"key", "example.com/reserved"}, {"operator", "Exists"}}};
  }
  switch (random_.Uniform(6)) {
    case 0:
      spec["affinity"] =
          json::object{{"podAntiAffinity", json::object{{"requiredDuringSchedulingIgnoredDuringExecution",
                                                         json::array{Term(app, "kubernetes.io/hostname")}}}}};
      break;
    case 1:
      spec["affinity"] =
          json::object{{"podAffinity", json::object{{"requiredDuringSchedulingIgnoredDuringExecution",
                                                     json::array{Term(app, kZoneLabel)}}}}};
      break;
    case 2:
      spec["topologySpreadConstraints"] = json::array{json::object{{"maxSkew", 1},
                                                                   {"topologyKey", kZoneLabel},
                                                                   {"whenUnsatisfiable", "DoNotSchedule"},
                                                                   {"labelSelector", SelectorFor(app)}}};
      break;
    default:
      break;
  }
  json::object metadata{{"name", fmt::format("pod-{}", ++pods_made_)},
                        {"labels", json::object{{"app", app}}}};
  Create("v1", "Pod", "default", {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

void Workload::DeletePod() {
  const auto pod = Any("v1", "Pod");
  if (!pod) return;
  const sandbox::Target target = TargetOf(*pod);
  sandbox::DeleteWish wish;
  if (random_.Chance(0.5)) wish.grace_seconds = 0;
  static_cast<void>(plane_.writer().Delete(target, wish));
}

void Workload::OpenGate(const sandbox::RevisionPtr& pod) {
  const sandbox::Target target = TargetOf(*pod);
  static_cast<void>(
      plane_.writer().Change(target, [](const json::object& current) -> sandbox::ApiResult<json::object> {
        json::object document = current;
        document["spec"].as_object().erase("schedulingGates");
        return document;
      }));
}

void Workload::OpenGates() {
  for (const auto& pod : All("v1", "Pod")) OpenGate(pod);
}

void Workload::DeleteAllPods() {
  for (const auto& pod : All("v1", "Pod")) {
    const sandbox::Target target = TargetOf(*pod);
    static_cast<void>(plane_.writer().Delete(target, {.grace_seconds = 0}));
  }
}

std::vector<std::string> Workload::Describe() const {
  std::vector<std::string> lines;
  for (const std::string_view kind : {"Node", "Pod"}) {
    for (const auto& object : All("v1", kind)) {
      const json::object document = object->Document();
      const auto status = document.find("status");
      const bool has_phase = status != document.end() && status->value().as_object().contains("phase");
      lines.push_back(fmt::format("{} {} {} {}", object->name(),
                                  json::serialize(document.at("metadata").at("labels")),
                                  json::serialize(document.at("spec")),
                                  has_phase ? json::serialize(status->value().at("phase")) : ""));
    }
  }
  return lines;
}

void Workload::AddNode(int number) { Create("v1", "Node", {}, NodeDocument(number)); }

void Workload::RemoveNode() {
  const auto node = Any("v1", "Node");
  if (!node || All("v1", "Node").size() <= 2) return;
  static_cast<void>(
      plane_.writer().Delete({.resource = &node->resource(), .name = std::string(node->name())}, {}));
}

void Workload::ChangeNode() {
  const auto node = Any("v1", "Node");
  if (!node) return;
  const std::uint64_t what = random_.Uniform(4);
  const sandbox::Target target = TargetOf(*node);
  static_cast<void>(
      plane_.writer().Change(target, [&](const json::object& current) -> sandbox::ApiResult<json::object> {
        json::object document = current;
        json::object& spec =
            document["spec"].is_object() ? document["spec"].as_object() : document["spec"].emplace_object();
        if (what == 0) {
          spec["unschedulable"] = true;
        } else if (what == 1) {
          spec.erase("unschedulable");
        } else if (what == 2) {
          spec["taints"] =
              json::array{json::object{{"key", "example.com/reserved"}, {"effect", "NoSchedule"}}};
        } else {
          spec.erase("taints");
        }
        return document;
      }));
}

std::vector<std::string> Workload::NodeNames() const {
  std::vector<std::string> names;
  for (const auto& node : All("v1", "Node")) names.emplace_back(node->name());
  return names;
}

void Workload::SetClosed(const sandbox::Revision& node, bool closed) {
  const sandbox::Target target = TargetOf(node);
  static_cast<void>(
      plane_.writer().Change(target, [&](const json::object& current) -> sandbox::ApiResult<json::object> {
        json::object document = current;
        json::object& spec =
            document["spec"].is_object() ? document["spec"].as_object() : document["spec"].emplace_object();
        spec.erase("taints");
        if (closed) {
          spec["unschedulable"] = true;
        } else {
          spec.erase("unschedulable");
        }
        return document;
      }));
}

void Workload::CloseAllBut(std::string_view node) {
  for (const auto& one : All("v1", "Node")) SetClosed(*one, one->name() != node);
}

void Workload::OpenNode(std::string_view node) {
  for (const auto& one : All("v1", "Node")) {
    if (one->name() == node) SetClosed(*one, false);
  }
}

void Workload::CreatePlainPod(const std::string& app) {
  json::object container{
      {"name", "main"},
      {"image", "app"},
      {"resources", json::object{{"requests", json::object{{"cpu", "1m"}, {"memory", "1Mi"}}}}}};
  json::object metadata{{"name", fmt::format("pod-{}", ++pods_made_)},
                        {"labels", json::object{{"app", app}}}};
  Create("v1", "Pod", "default",
         {{"metadata", std::move(metadata)},
          {"spec", json::object{{"containers", json::array{std::move(container)}}}}});
}

void Workload::CreateBudget() {
  const std::string app = fmt::format("app-{}", random_.Uniform(5));
  Create("policy/v1", "PodDisruptionBudget", "default",
         {{"metadata", json::object{{"name", fmt::format("budget-{}", ++budgets_made_)}}},
          {"spec", json::object{{"minAvailable", 1}, {"selector", SelectorFor(app)}}}});
}

}  // namespace berth::sim
