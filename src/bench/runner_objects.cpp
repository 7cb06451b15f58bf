#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "bench/claim_allocation.h"
#include "bench/field_reader.h"
#include "bench/requirements.h"
#include "bench/runner.h"
#include "sandbox/document.h"
#include "sandbox/kinds.h"

// The operations of a runner that write objects other than its pods and nodes.
namespace berth::bench {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kRetryMax = seconds(20);

base::Duration Interval(std::int64_t per_second) { return base::Duration(seconds(1)) / per_second; }

std::string KindText(const sandbox::Resource& resource) {
  return fmt::format("{}, Kind={}", resource.api_version, resource.kind);
}

}  // namespace

sandbox::ApiResult<std::string> Runner::CreateNamespace(const std::string& name, json::object document) {
  sandbox::ObjectAt(document, {"metadata"})["name"] = name;
  clock_.AwaitTurn();
  return cluster_.Create({.resource = &sandbox::ResourceOf("v1", "Namespace")}, std::move(document));
}

Runner::Done Runner::EnsureNamespace(const std::string& name) {
  if (unwaited_.contains(name)) return {};
  if (const auto made = CreateNamespace(name, {}); !made) {
    return FailRequest("namespace", "failed to create namespace for Pod: " + name, made.error());
  }
  unwaited_[name] = 0;
  return {};
}

Runner::Done Runner::Do(const CreateNamespaces& op) {
  json::object document;
  if (!op.template_path.empty()) {
    const auto source = ObjectTemplate::Load(file_.folder() / op.template_path,
                                             sandbox::ResourceOf("v1", "Namespace").message,
                                             /*expands=*/false);
    if (!source) return FailIn("namespaceTemplatePath", source.error().message);
    document = *source->Make({});
  }
  for (std::int64_t i = 0; i < op.count.number(); ++i) {
    const std::string name = fmt::format("{}-{}", op.prefix, i);
    const auto made = CreateNamespace(name, document);
    if (!made && made.error().reason != "AlreadyExists") {
      return FailRequest(op.template_path.empty() ? "prefix" : "namespaceTemplatePath",
                         "creating namespace " + name, made.error());
    }
    if (auto may = MayGoOn(); !may) return may;
    unwaited_.try_emplace(name, 0);
  }
  return {};
}

base::Result<Runner::FreeObject> Runner::MakeFree(const FreeSource& source, const json::object& data,
                                                  const std::string& namespace_name) {
  auto document = source.source.Make(data);
  if (!document) return FailIn(source.path_field, document.error().message);
  const std::string_view api_version = sandbox::TextAt(*document, {"apiVersion"});
  const std::string_view kind = sandbox::TextAt(*document, {"kind"});
  const sandbox::Resource* resource = sandbox::ResourceTable::Get().FindKind(api_version, kind);
  // An older version of what has another name now; the kinds that are posted this way did not change.
  if (resource == nullptr && api_version.starts_with("resource.k8s.io/v1beta")) {
    resource = sandbox::ResourceTable::Get().FindKind("resource.k8s.io/v1", kind);
  }
  if (resource == nullptr) {
    return FailIn(source.path_field, fmt::format("{}: no matches for kind \"{}\" in version \"{}\"",
                                                 source.path, kind, api_version));
  }
  if (resource->namespaced && namespace_name.empty()) {
    return FailIn("namespace", fmt::format("namespace not set for \"{}\", but \"{}\" has scope \"namespace\"",
                                           source.path, KindText(*resource)));
  }
  if (!resource->namespaced && !namespace_name.empty()) {
    return FailIn("namespace", fmt::format("namespace \"{}\" set for \"{}\", but \"{}\" has scope \"root\"",
                                           namespace_name, source.path, KindText(*resource)));
  }
  sandbox::Target target{.resource = resource,
                         .namespace_name = namespace_name,
                         .name = std::string(sandbox::TextAt(*document, {"metadata", "name"}))};
  return FreeObject{std::move(target), *std::move(document)};
}

Runner::Done Runner::Do(const CreateAny& op) {
  if (!op.namespace_name.empty()) {
    if (auto ensured = EnsureNamespace(op.namespace_name); !ensured) return ensured;
  }
  const auto source = ObjectTemplate::Load(file_.folder() / op.template_path, nullptr);
  if (!source) return FailIn("templatePath", source.error().message);
  const std::int64_t count = op.count.number(1);
  for (std::int64_t index = 0; index < count; ++index) {
    const auto object = MakeFree({*source, op.template_path}, TemplateData(op.template_params, index, count),
                                 op.namespace_name);
    if (!object) return std::unexpected(object.error());
    sandbox::Target target = object->target;
    target.name.clear();
    std::optional<sandbox::StatusError> error;
    clock_.AwaitTurn();
    bool made = false;
    clock_.Poll(seconds(1), kRetryMax, [&] {
      const auto created = cluster_.Create(target, object->document);
      if (!created) error = created.error();
      if (created) target.name = *created;
      made = created.has_value();
      return made || !MayGoOn();
    });
    if (auto may = MayGoOn(); !may) return may;
    if (!made) return FailRequest("templatePath", op.template_path, *error);
    if (target.resource->group == "resource.k8s.io") devices_.push_back(std::move(target));
  }
  return {};
}

Runner::Done Runner::UpdateOne(const UpdateAny& op, const ObjectTemplate& source, std::int64_t index) {
  const auto object =
      MakeFree({source, op.template_path}, TemplateData({}, index, op.count.number(1)), op.namespace_name);
  if (!object) return std::unexpected(object.error());
  std::vector<std::string> places = op.subresources;
  if (places.empty()) places.emplace_back();
  // Upstream always sends the status behind it, with all that this does to the object.
  places.emplace_back("status");
  for (const std::string& subresource : places) {
    sandbox::Target target = object->target;
    target.subresource = subresource;
    const auto updated = cluster_.Update(target, object->document);
    if (!updated) {
      return FailRequest(
          "templatePath",
          subresource == "status" ? "failed to update object status" : "failed to update object",
          updated.error());
    }
  }
  return {};
}

Runner::Done Runner::Do(const UpdateAny& op) {
  if (!op.namespace_name.empty()) {
    if (auto ensured = EnsureNamespace(op.namespace_name); !ensured) return ensured;
  }
  const auto source = ObjectTemplate::Load(file_.folder() / op.template_path, nullptr);
  if (!source) return FailIn("templatePath", source.error().message);
  for (std::int64_t index = 0; index < op.count.number(1); ++index) {
    if (op.updates_per_second > 0) {
      clock_.LetPass(Interval(op.updates_per_second));
    } else {
      clock_.AwaitTurn();
    }
    if (auto updated = UpdateOne(op, *source, index); !updated) return updated;
    if (auto may = MayGoOn(); !may) return may;
  }
  return {};
}

Runner::Done Runner::Do(const CreatePodGroups& op) {
  if (auto ensured = EnsureNamespace(op.namespace_name); !ensured) return ensured;
  const sandbox::Resource& groups = sandbox::ResourceOf("scheduling.k8s.io/v1beta1", "PodGroup");
  const auto source = ObjectTemplate::Load(file_.folder() / op.template_path, groups.message);
  if (!source) return FailIn("templatePath", source.error().message);
  for (std::int64_t index = 0; index < op.count.number(); ++index) {
    auto group = source->Make(TemplateData(op.template_params, index, std::nullopt));
    if (!group) return FailIn("templatePath", group.error().message);
    clock_.AwaitTurn();
    const auto made =
        cluster_.Create({.resource = &groups, .namespace_name = op.namespace_name}, *std::move(group));
    if (!made) return FailRequest("templatePath", op.template_path, made.error());
    if (auto may = MayGoOn(); !may) return may;
  }
  // The scheduler hears of them before it hears of any pod that comes later.
  clock_.LetPass(milliseconds(100));
  return {};
}

Runner::Done Runner::Do(const CreateResourceClaims& op) {
  if (auto ensured = EnsureNamespace(op.namespace_name); !ensured) return ensured;
  const sandbox::Resource& claims = sandbox::ResourceOf("resource.k8s.io/v1", "ResourceClaim");
  const auto source =
      ObjectTemplate::Load(file_.folder() / op.template_path, claims.message, /*expands=*/false);
  if (!source) return FailIn("templatePath", source.error().message);
  for (std::int64_t index = 0; index < op.count.number(); ++index) {
    clock_.AwaitTurn();
    const auto made =
        cluster_.Create({.resource = &claims, .namespace_name = op.namespace_name}, *source->Make({}));
    if (!made) return FailRequest("templatePath", "create claim", made.error());
    if (auto may = MayGoOn(); !may) return may;
    devices_.push_back({.resource = &claims, .namespace_name = op.namespace_name, .name = *made});
  }
  return {};
}

Runner::Done Runner::Do(const AllocateResourceClaims& op) {
  const auto is_asked = [&](const sandbox::Target& target) {
    return target.resource->kind == "ResourceClaim" && target.namespace_name == op.namespace_name;
  };
  // Most workloads that name this operation have no claims for it.
  if (std::ranges::none_of(devices_, is_asked)) return {};
  const auto features = FeaturesFor(workload_.gates);
  if (!features) return std::unexpected(features.error());
  ClaimAllocation allocation(*features, options_.seed);
  const auto add = [&](const sandbox::Target& target) -> Done {
    const auto document = cluster_.Get(target);
    return document ? allocation.Add(target.resource->kind, *document) : Done();
  };
  for (const std::string& name : cluster_.NodeNames()) {
    auto added = add({.resource = &sandbox::ResourceOf("v1", "Node"), .name = name});
    if (!added) return added;
  }
  for (const sandbox::Target& target : devices_) {
    if (auto added = add(target); !added) return added;
  }
  for (sandbox::Target target : devices_) {
    if (!is_asked(target)) continue;
    auto document = allocation.Allocate(target.namespace_name, target.name);
    if (!document) return std::unexpected(std::move(document.error()));
    if (document->empty()) continue;
    target.subresource = "status";
    clock_.AwaitTurn();
    if (const auto updated = cluster_.Update(target, *std::move(document)); !updated) {
      return FailRequest("", "update claim status with allocation", updated.error());
    }
    if (auto may = MayGoOn(); !may) return may;
  }
  return {};
}

Runner::Done Runner::Do(const DeletePods& op) {
  std::vector<std::string> names;
  for (const auto& [name, pod] : ledger_.pods(op.namespace_name)) {
    if (HasLabels(pod.labels, op.labels)) names.push_back(name);
  }
  const auto remove = [this, namespace_name = op.namespace_name, place = place_](const std::string& name) {
    const auto deleted = cluster_.Delete(
        {.resource = &sandbox::ResourceOf("v1", "Pod"), .namespace_name = namespace_name, .name = name},
        std::nullopt);
    if (deleted) return;
    results_.failures.push_back(
        fmt::format("{}: unable to delete pod {}: {}", place, name, deleted.error().message));
  };
  if (op.deletes_per_second == 0) {
    clock_.AwaitTurn();
    for (const std::string& name : names) {
      if (auto may = MayGoOn(); !may) return may;
      remove(name);
    }
    return {};
  }
  const base::Duration interval = Interval(op.deletes_per_second);
  if (op.skip_wait) {
    clock_.Every(interval, [names = std::move(names), remove, next = std::size_t{0}]() mutable {
      if (next < names.size()) remove(names[next++]);
      return next < names.size();
    });
    return {};
  }
  for (const std::string& name : names) {
    clock_.LetPass(interval);
    if (auto may = MayGoOn(); !may) return may;
    remove(name);
  }
  return {};
}

Runner::Done Runner::Do(const Churn& op) {
  const std::string namespace_name = op.namespace_name.value_or(DefaultNamespace());
  if (const auto made = CreateNamespace(namespace_name, {});
      !made && made.error().reason != "AlreadyExists") {
    return FailRequest("namespace", "unable to create namespace " + namespace_name, made.error());
  }
  struct Source {
    FreeObject object;
    std::map<std::int64_t, std::string> live = {};  // the names that are there, by slot
  };
  std::vector<Source> sources;
  for (std::size_t i = 0; i < op.template_paths.size(); ++i) {
    const std::string& path = op.template_paths[i];
    const std::string field = fmt::format("templatePaths[{}]", i);
    const auto parsed = ObjectTemplate::Load(file_.folder() / path, nullptr, /*expands=*/false);
    if (!parsed) return FailIn(field, parsed.error().message);
    const auto document = parsed->Make({});
    const sandbox::Resource* const resource = sandbox::ResourceTable::Get().FindKind(
        sandbox::TextAt(*document, {"apiVersion"}), sandbox::TextAt(*document, {"kind"}));
    auto object = MakeFree({*parsed, path, field}, {},
                           resource != nullptr && resource->namespaced ? namespace_name : std::string());
    if (!object) return std::unexpected(std::move(object.error()));
    object->target.name.clear();
    sources.push_back({*std::move(object)});
  }
  const auto create = [this](const FreeObject& object) {
    // Errors are nobody's business: upstream ignores them here.
    return cluster_.Create(object.target, object.document).value_or(std::string());
  };
  const auto remove = [this, place = place_](const FreeObject& object, const std::string& name) {
    sandbox::Target target = object.target;
    target.name = name;
    if (const auto deleted = cluster_.Delete(target, std::nullopt); !deleted) {
      results_.failures.push_back(
          fmt::format("{}: unable to delete {}: {}", place, name, deleted.error().message));
    }
  };
  clock_.Every(milliseconds(op.interval_milliseconds),
               [=, number = op.number, recreate = op.recreate, tick = std::int64_t{0},
                sources = std::move(sources)]() mutable {
                 for (Source& source : sources) {
                   if (!recreate) {
                     create(source.object);
                     continue;
                   }
                   std::string& live = source.live[tick % number];
                   if (live.empty()) {
                     live = create(source.object);
                   } else {
                     remove(source.object, std::exchange(live, {}));
                   }
                 }
                 ++tick;
                 return recreate || number == 0 || tick < number;
               });
  return {};
}

}  // namespace berth::bench
