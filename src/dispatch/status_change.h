#pragma once

#include <string_view>

#include "api/pod_record.h"
#include "api/pod_status_change.h"

// What a change of a pod's status comes to, given the pod as it was last seen.
namespace berth::dispatch {

// Whether a write would change anything. Generations are not compared: another one alone is not worth a
// request. `nomination` is the pod's nominated node as far as anybody here knows, which may be newer than
// `known`.
bool HasEffect(const api::PodStatusChange& change, const api::PodRecord& known, std::string_view nomination);

// Adds to the newer change what only the older one says. An explicit PodScheduled beats the removal of an old
// one; the removal beats an older "not ready" that was not written yet.
void AddOlder(api::PodStatusChange& change, const api::PodStatusChange& older);

// Null: the change does not set this type.
const api::PodCondition* FindCondition(const api::PodStatusChange& change, std::string_view type);

}  // namespace berth::dispatch
