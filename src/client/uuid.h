#pragma once

#include <string>

#include "base/random.h"

namespace berth::client {

// A random UUID, version 4.
std::string MakeUuid(base::Random& random);

}  // namespace berth::client
