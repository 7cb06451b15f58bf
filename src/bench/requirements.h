#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "bench/workload_file.h"
#include "framework/features.h"

namespace berth::bench {

// berth's gates with those of a workload over them. Fails for a gate that berth does not know.
base::Result<framework::Features> FeaturesFor(const Gates& gates);

// What a workload needs and berth does not have, in words; empty: it can run. Reads the templates that the
// workload names; what is wrong with those is for the run to say.
std::vector<std::string> MissingFor(const WorkloadFile& file, const TestCase& test_case,
                                    const Workload& workload);

}  // namespace berth::bench
