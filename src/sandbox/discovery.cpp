#include "sandbox/discovery.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <vector>

#include "sandbox/kinds.h"
#include "sandbox/text_parts.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;
using GroupVersion = ResourceTable::GroupVersion;

json::array Words(std::span<const std::string_view> words) {
  json::array array;
  for (const std::string_view word : words) array.emplace_back(word);
  return array;
}

std::vector<std::string_view> Verbs(const Resource& resource) {
  if (resource.create_only) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<std::string_view> SubresourceVerbs(std::string_view subresource) {
  if (subresource == "binding" || subresource == "eviction") return {"create"};
  if (subresource == "finalize") return {"update"};
  return {"get", "patch", "update"};
}

struct GroupKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
};

GroupKind SubresourceKind(const Resource& resource, std::string_view subresource) {
  if (subresource == "scale") return {"autoscaling", "v1", "Scale"};
  if (subresource == "eviction") return {"policy", "v1", "Eviction"};
  if (subresource == "binding") return {"", "v1", "Binding"};
  return {resource.group, resource.version, resource.kind};
}

json::object KindDocument(const GroupKind& kind) {
  json::object document;
  document["group"] = kind.group;
  document["version"] = kind.version;
  document["kind"] = kind.kind;
  return document;
}

json::object AggregatedResource(const Resource& resource) {
  json::object entry;
  entry["resource"] = resource.plural;
  entry["responseKind"] = KindDocument({resource.group, resource.version, resource.kind});
  entry["scope"] = resource.namespaced ? "Namespaced" : "Cluster";
  entry["singularResource"] = resource.singular;
  entry["verbs"] = Words(Verbs(resource));
  if (!resource.short_names.empty()) entry["shortNames"] = Words(resource.short_names);
  if (!resource.categories.empty()) entry["categories"] = Words(resource.categories);
  json::array subresources;
  for (const std::string_view name : resource.subresources) {
    json::object subresource;
    subresource["subresource"] = name;
    subresource["responseKind"] = KindDocument(SubresourceKind(resource, name));
    subresource["verbs"] = Words(SubresourceVerbs(name));
    subresources.push_back(std::move(subresource));
  }
  if (!subresources.empty()) entry["subresources"] = std::move(subresources);
  return entry;
}

template <class Visit>
void ForEachResource(const GroupVersion& of, const Visit& visit) {
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (resource.group == of.group && resource.version == of.version) visit(resource);
  }
}

// Each group once, in the order of its first version.
std::vector<std::vector<GroupVersion>> Groups() {
  std::vector<std::vector<GroupVersion>> groups;
  for (const GroupVersion& version : ResourceTable::Get().group_versions()) {
    bool known = false;
    for (std::vector<GroupVersion>& group : groups) {
      if (group.front().group != version.group) continue;
      group.push_back(version);
      known = true;
    }
    if (!known) groups.push_back({version});
  }
  return groups;
}

json::object Aggregated(bool core) {
  json::array items;
  for (const std::vector<GroupVersion>& group : Groups()) {
    if (group.front().group.empty() != core) continue;
    json::object item;
    json::object metadata;
    if (!core) metadata["name"] = group.front().group;
    item["metadata"] = std::move(metadata);
    json::array versions;
    for (const GroupVersion& version : group) {
      json::object entry;
      entry["version"] = version.version;
      json::array resources;
      ForEachResource(version,
                      [&](const Resource& resource) { resources.push_back(AggregatedResource(resource)); });
      entry["resources"] = std::move(resources);
      entry["freshness"] = "Current";
      versions.push_back(std::move(entry));
    }
    item["versions"] = std::move(versions);
    items.push_back(std::move(item));
  }
  json::object list;
  list["kind"] = "APIGroupDiscoveryList";
  list["apiVersion"] = "apidiscovery.k8s.io/v2";
  list["metadata"] = json::object();
  list["items"] = std::move(items);
  return list;
}

json::object VersionEntry(const GroupVersion& version) {
  json::object entry;
  entry["groupVersion"] = fmt::format("{}/{}", version.group, version.version);
  entry["version"] = version.version;
  return entry;
}

json::object LegacyGroup(const std::vector<GroupVersion>& group) {
  json::object document;
  document["name"] = group.front().group;
  json::array versions;
  for (const GroupVersion& version : group) versions.push_back(VersionEntry(version));
  document["versions"] = std::move(versions);
  document["preferredVersion"] = VersionEntry(group.front());
  return document;
}

json::object LegacyResource(const Resource& resource, std::string_view name, const GroupKind& kind,
                            std::span<const std::string_view> verbs) {
  json::object entry;
  entry["name"] = name;
  entry["singularName"] = name == resource.plural ? resource.singular : "";
  entry["namespaced"] = resource.namespaced;
  if (kind.group != resource.group || kind.version != resource.version) {
    entry["group"] = kind.group;
    entry["version"] = kind.version;
  }
  entry["kind"] = kind.kind;
  entry["verbs"] = Words(verbs);
  if (name != resource.plural) return entry;
  if (!resource.short_names.empty()) entry["shortNames"] = Words(resource.short_names);
  if (!resource.categories.empty()) entry["categories"] = Words(resource.categories);
  return entry;
}

json::object LegacyResources(const GroupVersion& version) {
  json::object list;
  list["kind"] = "APIResourceList";
  list["apiVersion"] = "v1";
  list["groupVersion"] = version.group.empty() ? std::string(version.version)
                                               : fmt::format("{}/{}", version.group, version.version);
  json::array resources;
  ForEachResource(version, [&](const Resource& resource) {
    const GroupKind kind{resource.group, resource.version, resource.kind};
    resources.push_back(LegacyResource(resource, resource.plural, kind, Verbs(resource)));
    for (const std::string_view name : resource.subresources) {
      resources.push_back(LegacyResource(resource, fmt::format("{}/{}", resource.plural, name),
                                         SubresourceKind(resource, name), SubresourceVerbs(name)));
    }
  });
  list["resources"] = std::move(resources);
  return list;
}

json::object LegacyVersions() {
  json::object document;
  document["kind"] = "APIVersions";
  document["versions"] = json::array({"v1"});
  document["serverAddressByClientCIDRs"] = json::array();
  return document;
}

json::object LegacyGroups() {
  json::object list;
  list["kind"] = "APIGroupList";
  list["apiVersion"] = "v1";
  json::array groups;
  for (const std::vector<GroupVersion>& group : Groups()) {
    if (!group.front().group.empty()) groups.push_back(LegacyGroup(group));
  }
  list["groups"] = std::move(groups);
  return list;
}

bool WantsAggregated(const std::string* accept) {
  if (accept == nullptr) return false;
  for (const AcceptClause& clause : ParseAccept(*accept)) {
    if (clause.parameter("as").empty()) return false;  // a plain alternative comes first
    if (clause.type == "application/json" && clause.parameter("g") == "apidiscovery.k8s.io" &&
        clause.parameter("v") == "v2" && clause.parameter("as") == "APIGroupDiscoveryList") {
      return true;
    }
  }
  return false;
}

Answer JsonAnswer(const json::object& document) { return DocumentAnswer(200, document, MediaType::kJson); }

}  // namespace

std::optional<Answer> AnswerDiscovery(std::string_view path, const std::string* accept) {
  const std::vector<std::string_view> parts = SplitText(path, '/');
  if (parts.empty() || parts.size() > 3 || (parts[0] != "api" && parts[0] != "apis")) return std::nullopt;
  const bool core = parts[0] == "api";
  if (parts.size() == 1) {
    if (!WantsAggregated(accept)) return JsonAnswer(core ? LegacyVersions() : LegacyGroups());
    return TextAnswer(200, wire::WriteJson(Aggregated(core)),
                      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  }
  const std::string_view group = core ? "" : parts[1];
  for (const std::vector<GroupVersion>& known : Groups()) {
    if (known.front().group != group) continue;
    if (!core && parts.size() == 2) {
      json::object document = LegacyGroup(known);
      document["kind"] = "APIGroup";
      document["apiVersion"] = "v1";
      return JsonAnswer(document);
    }
    for (const GroupVersion& version : known) {
      if (version.version == parts.back()) return JsonAnswer(LegacyResources(version));
    }
  }
  return std::nullopt;
}

}  // namespace berth::sandbox
