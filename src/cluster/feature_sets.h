#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

// The distinct lists of features that nodes declare, in the order in which they declare them.
using FeatureSetTable = base::InternTable<FeatureSetId, std::vector<std::string>>;

}  // namespace berth::cluster
