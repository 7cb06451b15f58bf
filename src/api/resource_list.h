#pragma once

#include <string>

#include "api/quantity.h"
#include "base/flat_map.h"

namespace berth::api {

// Resource name to amount, in name order.
using ResourceList = base::FlatMap<std::string, Quantity>;

}  // namespace berth::api
