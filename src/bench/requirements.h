#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/params.h"
#include "bench/workload_file.h"
#include "framework/features.h"

namespace berth::bench {

// berth's gates with those of a workload over them. Fails for a gate that berth does not know.
base::Result<framework::Features> FeaturesFor(const Gates& gates);

// How many features of nodes a workload makes up, which no release knows: nodes declare all of them, and pods
// with resources of their own need them. Marks the parameter that says so as used.
base::Result<std::size_t> MadeUpNodeFeatures(const WorkloadFile& file, const Workload& workload,
                                             Params& params);

// What the scheduler can do that is measured.
struct Abilities {
  // One that is a process knows the features of its release and no others.
  bool makes_up_node_features = true;
};

// What a workload needs and berth does not have, in words; empty: it can run. Reads the templates that the
// workload names; what is wrong with those is for the run to say.
std::vector<std::string> MissingFor(const WorkloadFile& file, const TestCase& test_case,
                                    const Workload& workload, const Abilities& abilities = {});

}  // namespace berth::bench
