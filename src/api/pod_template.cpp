#include "api/pod_template.h"

#include <cstddef>

#include "api/structural_hash.h"

namespace berth::api {

std::size_t SpecHash(const PodSpec& spec) { return StructuralHash(spec); }

}  // namespace berth::api
