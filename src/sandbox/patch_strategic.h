#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/status_error.h"

namespace berth::wire {
struct Message;
}  // namespace berth::wire

namespace berth::sandbox {

// Strategic merge patch: objects merge key by key, and lists whose schema names a merge key merge element by
// element, with the directives $patch, $retainKeys, $setElementOrder/<list> and
// $deleteFromPrimitiveList/<list>. Changes `document` in place; what it is after an error means nothing.
ApiResult<void> StrategicMerge(const wire::Message& message, boost::json::object& document,
                               const boost::json::object& patch);

}  // namespace berth::sandbox
