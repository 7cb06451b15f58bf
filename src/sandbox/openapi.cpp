#include "sandbox/openapi.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/kinds.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;
using GroupVersion = ResourceTable::GroupVersion;

constexpr std::string_view kRoot = "/openapi/v3";

std::string PathOf(const GroupVersion& version) {
  return version.group.empty() ? fmt::format("api/{}", version.version)
                               : fmt::format("apis/{}/{}", version.group, version.version);
}

json::object Index() {
  json::object paths;
  for (const GroupVersion& version : ResourceTable::Get().group_versions()) {
    const std::string path = PathOf(version);
    paths[path] = json::object({{"serverRelativeURL", fmt::format("{}/{}", kRoot, path)}});
  }
  json::object document;
  document["paths"] = std::move(paths);
  return document;
}

// Without a request body: clients then compare objects by the types that they have built in.
json::object Operation(const Resource& resource) {
  json::object parameter;
  parameter["name"] = "fieldValidation";
  parameter["in"] = "query";
  json::object kind;
  kind["group"] = resource.group;
  kind["version"] = resource.version;
  kind["kind"] = resource.kind;
  json::object operation;
  operation["parameters"] = json::array({std::move(parameter)});
  operation["responses"] = json::object();
  operation["x-kubernetes-group-version-kind"] = std::move(kind);
  return operation;
}

json::object Document(const GroupVersion& version) {
  json::object paths;
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (resource.group != version.group || resource.version != version.version || resource.create_only)
      continue;
    const std::string path =
        fmt::format("/{}/{}{}/{{name}}", PathOf(version),
                    resource.namespaced ? "namespaces/{namespace}/" : "", resource.plural);
    paths[path] = json::object({{"patch", Operation(resource)}});
  }
  json::object document;
  document["openapi"] = "3.0.0";
  document["info"] = json::object({{"title", "berth sandbox"}, {"version", "v1.37.0"}});
  document["paths"] = std::move(paths);
  return document;
}

}  // namespace

std::optional<Answer> AnswerOpenApi(std::string_view path) {
  if (path == kRoot) return DocumentAnswer(200, Index(), MediaType::kJson);
  if (!path.starts_with(kRoot)) return std::nullopt;
  for (const GroupVersion& version : ResourceTable::Get().group_versions()) {
    if (path.substr(kRoot.size()) == "/" + PathOf(version)) {
      return DocumentAnswer(200, Document(version), MediaType::kJson);
    }
  }
  return std::nullopt;
}

}  // namespace berth::sandbox
