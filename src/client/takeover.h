#pragma once

#include <span>

#include "client/reflector.h"

namespace berth::client {

// What a new leader does before its first decision: waits until every reflector has seen all that the leader
// before it may have written. Being elected does not say how old the copy of the cluster is, and a decision
// from an old copy would undo or repeat the other's.
//
// Reflectors that are as new as the server was at the time of this call go on undisturbed; the others read
// everything anew.
base::Task<void> CatchUp(ApiClient& client, std::span<Reflector* const> reflectors);

}  // namespace berth::client
