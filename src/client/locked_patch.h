#pragma once

#include "client/api_client.h"
#include "client/json_object.h"

#include "api/meta.h"

namespace berth::client {

// A merge patch that only applies to the very version of the object that it was made for: as a PUT of the
// whole object, without having to know the whole object. `changes` are the members beside `metadata`, and
// that has the lock besides what is given of it.
ApiRequest LockedPatch(const ResourceInfo& resource, const api::ObjectMeta& object,
                       std::string_view subresource, JsonObject changes, JsonObject metadata = {});

}  // namespace berth::client
