#include "client/locked_patch.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "wire/json_document.h"

namespace berth::client {

ApiRequest LockedPatch(const ResourceInfo& resource, const api::ObjectMeta& object,
                       std::string_view subresource, boost::json::object changes) {
  boost::json::value& metadata = changes["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  metadata.get_object()["uid"] = object.uid;
  metadata.get_object()["resourceVersion"] = object.resource_version;
  return {.method = "PATCH",
          .path = ObjectPath(resource, object.namespace_, object.name, subresource),
          .content_type = std::string(kMergePatch),
          .body = wire::WriteJson(changes),
          .subject = {.method = "", .resource = QualifiedName(resource), .name = object.name}};
}

}  // namespace berth::client
