#include "sandbox/control_plane.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/check.h"
#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

json::object Named(std::string_view name) {
  json::object document;
  ObjectAt(document, {"metadata"})["name"] = name;
  return document;
}

void MustCreate(ObjectWriter& writer, std::string_view api_version, std::string_view kind,
                json::object document) {
  const Target target{.resource = &ResourceOf(api_version, kind)};
  const ApiResult<RevisionPtr> created = writer.Create(target, std::move(document));
  BERTH_CHECK(created.has_value());
}

// How pods would reach the API; clients expect to find it.
void CreateOwnService(ObjectWriter& writer) {
  json::object service = Named("kubernetes");
  json::object& labels = ObjectAt(service, {"metadata", "labels"});
  labels["component"] = "apiserver";
  labels["provider"] = "kubernetes";
  json::object port;
  port["name"] = "https";
  port["port"] = 443;
  port["targetPort"] = 6443;
  ObjectAt(service, {"spec"})["clusterIP"] = "10.96.0.1";
  ObjectAt(service, {"spec"})["ports"] = json::array({std::move(port)});
  const ApiResult<RevisionPtr> created = writer.Create(
      {.resource = &ResourceOf("v1", "Service"), .namespace_name = "default"}, std::move(service));
  BERTH_CHECK(created.has_value());
}

base::Result<void> CreateOne(ObjectWriter& writer, json::object document) {
  const std::string api_version(TextAt(document, {"apiVersion"}));
  const std::string kind(TextAt(document, {"kind"}));
  const std::string name(TextAt(document, {"metadata", "name"}));
  const Resource* resource = ResourceTable::Get().FindKind(api_version, kind);
  if (resource == nullptr || resource->create_only) {
    return base::Fail(fmt::format("no kind \"{}\" is served in version \"{}\"", kind, api_version));
  }
  Target target{.resource = resource};
  if (resource->namespaced) {
    target.namespace_name = TextAt(document, {"metadata", "namespace"});
    if (target.namespace_name.empty()) target.namespace_name = "default";
  }
  const ApiResult<RevisionPtr> created = writer.Create(target, std::move(document));
  if (!created) return base::Fail(created.error().message);
  return {};
}

}  // namespace

ControlPlane::ControlPlane(const base::Clock& clock, Options options)
    : clock_(clock),
      store_(options.store),
      writer_(store_, clock, options.seed),
      api_(writer_, clock, timers_, std::move(options.api)) {
  CreateBuiltIns();
}

void ControlPlane::CreateBuiltIns() {
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    MustCreate(writer_, "v1", "Namespace", Named(name));
  }
  CreateOwnService(writer_);
  constexpr std::pair<std::string_view, std::int64_t> kClasses[] = {{"system-node-critical", 2000001000},
                                                                    {"system-cluster-critical", 2000000000}};
  for (const auto& [name, value] : kClasses) {
    json::object priority_class = Named(name);
    priority_class["value"] = value;
    priority_class["preemptionPolicy"] = "PreemptLowerPriority";
    MustCreate(writer_, "scheduling.k8s.io/v1", "PriorityClass", std::move(priority_class));
  }
}

base::Result<std::size_t> ControlPlane::Load(std::string_view manifest) {
  const base::Result<std::vector<wire::YamlDocument>> documents = wire::SplitYaml(manifest);
  if (!documents) return base::Fail(documents.error().message);
  std::size_t count = 0;
  for (const wire::YamlDocument& part : *documents) {
    const auto located = [&](std::string_view why) {
      return base::Fail(fmt::format("line {}: {}", part.first_line, why));
    };
    const base::Result<std::string> text = wire::YamlToJson(part.text, {.first_line = part.first_line});
    if (!text) return base::Fail(text.error().message);
    base::Result<json::value> value = wire::ParseJson(*text);
    if (!value) return located(value.error().message);
    if (value->is_null()) continue;
    if (!value->is_object()) return located("no object");
    json::object& object = value->get_object();
    json::array items;
    if (TextAt(object, {"kind"}) == "List" && FindArray(object, {"items"}) != nullptr) {
      items = *FindArray(object, {"items"});
    } else {
      items.push_back(std::move(object));
    }
    for (json::value& item : items) {
      if (!item.is_object()) return located("a list's item is no object");
      const base::Result<void> created = CreateOne(writer_, std::move(item.get_object()));
      if (!created) return located(created.error().message);
      ++count;
    }
  }
  return count;
}

}  // namespace berth::sandbox
