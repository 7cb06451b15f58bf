#include "sim/world_objects.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "sandbox/document.h"

namespace berth::sim {
namespace {

namespace json = boost::json;

sandbox::Target TargetFor(const sandbox::Revision& object) {
  return {.resource = &object.resource(),
          .namespace_name = std::string(object.namespace_name()),
          .name = std::string(object.name())};
}

}  // namespace

void WorldObjects::Create(std::string_view api_version, std::string_view kind, json::object document) {
  const sandbox::Resource& resource = sandbox::ResourceOf(api_version, kind);
  document["apiVersion"] = api_version;
  document["kind"] = kind;
  const sandbox::Target target{.resource = &resource, .namespace_name = resource.namespaced ? "default" : ""};
  const auto created = plane_.writer().Create(target, std::move(document));
  if (!created) {
    BERTH_LOG(0, "The simulation made an object that the server refuses", {"why", created.error().message});
  }
  BERTH_CHECK(created.has_value());
}

std::vector<sandbox::RevisionPtr> WorldObjects::All(std::string_view api_version,
                                                    std::string_view kind) const {
  const auto page = plane_.store().List(sandbox::Selection(sandbox::ResourceOf(api_version, kind)));
  return page ? page->items : std::vector<sandbox::RevisionPtr>();
}

void WorldObjects::Change(const sandbox::Revision& object, const std::function<void(json::object&)>& change) {
  static_cast<void>(plane_.writer().Change(
      TargetFor(object), [&](const json::object& current) -> sandbox::ApiResult<json::object> {
        json::object document = current;
        change(document);
        return document;
      }));
}

void WorldObjects::Delete(const sandbox::Revision& object, bool at_once) {
  sandbox::DeleteWish wish{.uid = std::string(object.uid())};
  if (at_once) wish.grace_seconds = 0;
  static_cast<void>(plane_.writer().Delete(TargetFor(object), wish));
}

json::object Named(std::string name) { return {{"metadata", json::object{{"name", std::move(name)}}}}; }

json::object SmallPod(std::string name, std::string_view app) {
  json::object container{
      {"name", "main"},
      {"image", "app"},
      {"resources", json::object{{"requests", json::object{{"cpu", "50m"}, {"memory", "16Mi"}}}}}};
  json::object pod = Named(std::move(name));
  pod["metadata"].as_object()["labels"] = json::object{{"app", app}};
  pod["spec"] = json::object{{"containers", json::array{std::move(container)}}};
  return pod;
}

std::string TextIn(const json::object& document, std::initializer_list<std::string_view> path) {
  return std::string(sandbox::TextAt(document, path));
}

bool IsOnNode(const json::object& pod) {
  const std::string phase = TextIn(pod, {"status", "phase"});
  return !TextIn(pod, {"spec", "nodeName"}).empty() && phase != "Succeeded" && phase != "Failed";
}

}  // namespace berth::sim
