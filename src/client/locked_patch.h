#pragma once

#include <boost/json/fwd.hpp>

#include "client/api_client.h"

#include "api/meta.h"

namespace berth::client {

// A merge patch that only applies to the very version of the object that it was made for: as a PUT of the
// whole object, without having to know the whole object. `changes` are the members beside the lock.
ApiRequest LockedPatch(const ResourceInfo& resource, const api::ObjectMeta& object,
                       std::string_view subresource, boost::json::object changes);

}  // namespace berth::client
