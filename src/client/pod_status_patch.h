#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/pod.h"
#include "api/pod_record.h"
#include "api/pod_status_change.h"
#include "api/time.h"

namespace berth::client {

// The strategic merge patch that leads from what is known of the pod to what its status should say, as
// kube-scheduler would diff it; empty if nothing has to change. `nomination` is the pod's nominated node if
// somebody knows better than `known`.
//
// It names neither uid nor version and applies to whatever pod has the name, except when a condition is to be
// removed: then the patch fails (409) if the pod has changed since, so that nobody else's condition goes.
std::string PodStatusPatch(const api::PodRecord& known, const api::PodStatusChange& change, api::Time now,
                           std::optional<std::string_view> nomination = std::nullopt);

// The same kind of patch: which claim serves the pod's extended resources. It fails if the pod of that name
// is another one.
std::string ExtendedResourceClaimPatch(std::string_view pod_uid,
                                       const api::PodExtendedResourceClaimStatus& status);

}  // namespace berth::client
