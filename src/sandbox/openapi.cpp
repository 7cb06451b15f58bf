#include "sandbox/openapi.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "sandbox/kinds.h"
#include "sandbox/openapi_schema.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;
using GroupVersion = ResourceTable::GroupVersion;

constexpr std::string_view kRoot = "/openapi/v3";
constexpr std::string_view kOldRoot = "/openapi/v2";
constexpr std::string_view kProtobufDocument = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kEmptyDocument =
    "\x0a\x03"
    "2.0";  // its version and nothing else

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

json::object Info() {
  json::object info;
  info["title"] = "berth sandbox";
  info["version"] = "v1.37.0";
  return info;
}

std::string Document(const GroupVersion& version) {
  json::object paths;
  std::vector<const Resource*> described;
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (resource.group != version.group || resource.version != version.version) continue;
    described.push_back(&resource);
    if (resource.create_only) continue;
    const std::string path =
        fmt::format("/{}/{}{}/{{name}}", PathOf(version),
                    resource.namespaced ? "namespaces/{namespace}/" : "", resource.plural);
    paths[path] = json::object({{"get", Operation(resource)}, {"patch", Operation(resource)}});
  }
  json::object document;
  document["openapi"] = "3.0.0";
  document["info"] = Info();
  document["paths"] = std::move(paths);
  document["components"] = json::object({{"schemas", Definitions(described, OpenApiVersion::kV3)}});
  return wire::WriteJson(document);
}

std::string OldDocument() {
  std::vector<const Resource*> described;
  for (const Resource& resource : ResourceTable::Get().resources()) described.push_back(&resource);
  json::object document;
  document["swagger"] = "2.0";
  document["info"] = Info();
  document["paths"] = json::object();
  document["definitions"] = Definitions(described, OpenApiVersion::kV2);
  return wire::WriteJson(document);
}

// Megabytes that never change: made once, when the first client asks.
const std::map<std::string, net::Buffer, std::less<>>& Documents() {
  static const auto documents = [] {
    std::map<std::string, net::Buffer, std::less<>> made;
    for (const GroupVersion& version : ResourceTable::Get().group_versions()) {
      made[fmt::format("{}/{}", kRoot, PathOf(version))] = net::MakeBuffer(Document(version));
    }
    made[std::string(kOldRoot)] = net::MakeBuffer(OldDocument());
    return made;
  }();
  return documents;
}

}  // namespace

std::optional<Answer> AnswerOpenApi(std::string_view path, std::string_view accept) {
  if (path == kRoot) return DocumentAnswer(200, Index(), MediaType::kJson);
  if (!path.starts_with("/openapi/")) return std::nullopt;
  if (path == kOldRoot && accept.contains("proto-openapi.spec.v2") && !accept.contains("json")) {
    return TextAnswer(200, std::string(kEmptyDocument), kProtobufDocument);
  }
  const auto it = Documents().find(path);
  if (it == Documents().end()) return std::nullopt;
  Answer answer = TextAnswer(200, "", "application/json");
  answer.body = net::Body{it->second};
  return answer;
}

}  // namespace berth::sandbox
