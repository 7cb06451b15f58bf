#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/object_writer.h"

namespace berth::sandbox {

// Refuses an object that has another name than the request has for it.
ApiResult<void> CheckName(const Target& target, const boost::json::object& document);

}  // namespace berth::sandbox
