#pragma once

#include "framework/points.h"
#include "framework/profile.h"

namespace berth::framework {

// Runs the plugins that try to make room, in order, until one succeeds or says that nothing will help. If
// none does, all reasons together are the answer, with the last nomination that a plugin gave. A success has
// a message for users, too, and the plugin that made room.
PostFilterResult RunPostFilter(const Profile& profile, Cycle& cycle, const Diagnosis& diagnosis);

}  // namespace berth::framework
