#pragma once

#include <string>

#include "base/random.h"

namespace berth::sandbox {

// A random UUID, as objects and requests carry them.
std::string NewUid(base::Random& random);

}  // namespace berth::sandbox
