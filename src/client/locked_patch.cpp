#include "client/locked_patch.h"

#include <utility>

namespace berth::client {

ApiRequest LockedPatch(const ResourceInfo& resource, const api::ObjectMeta& object,
                       std::string_view subresource, JsonObject changes, JsonObject metadata) {
  metadata.Text("uid", object.uid);
  metadata.Text("resourceVersion", object.resource_version);
  changes.Raw("metadata", metadata.Finish());
  return {.method = "PATCH",
          .path = ObjectPath(resource, object.namespace_, object.name, subresource),
          .content_type = std::string(kMergePatch),
          .body = changes.Finish(),
          .subject = {.method = "", .resource = QualifiedName(resource), .name = object.name}};
}

}  // namespace berth::client
