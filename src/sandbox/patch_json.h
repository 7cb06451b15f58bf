#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/status_error.h"

namespace berth::sandbox {

// JSON patch (RFC 6902): the operations one after the other, all of them or none. At most 10,000.
ApiResult<void> ApplyJsonPatch(boost::json::value& document, const boost::json::value& patch);

}  // namespace berth::sandbox
