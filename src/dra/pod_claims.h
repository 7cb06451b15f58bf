#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_record.h"
#include "base/error.h"
#include "dra/claim_cache.h"

namespace berth::dra {

// The claims of a pod, in the order of its spec, without those that were deliberately not made. The first
// claim that is missing or not the pod's to use fails all of it; the words are shown to users.
base::Result<std::vector<ClaimRef>> ClaimsOf(const api::PodRecord& pod, const ClaimCache& claims);

}  // namespace berth::dra
