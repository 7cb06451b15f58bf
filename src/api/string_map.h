#pragma once

#include <string>

#include "base/flat_map.h"

namespace berth::api {

// Labels, annotations, node selectors: text to text, in key order.
using StringMap = base::FlatMap<std::string, std::string>;

}  // namespace berth::api
