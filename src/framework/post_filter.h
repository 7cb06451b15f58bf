#pragma once

#include <span>

#include "framework/points.h"
#include "framework/profile.h"

namespace berth::framework {

// Runs the plugins that try to make room, in order, until one succeeds or says that nothing will help. If
// none does, all reasons together are the answer, with the last nomination that a plugin gave. A success has
// a message for users, too, and the plugin that made room.
//
// If a plugin has candidates to show, the answer is Wait, with the reasons so far.
PostFilterResult RunPostFilter(const Profile& profile, Cycle& cycle, const Diagnosis& diagnosis);

// Goes on after a Wait, with what is left of the candidates. Plugins behind the one that had them are not
// asked: what they would look at is no longer there.
PostFilterResult ResumePostFilter(const Profile& profile, const cluster::Cluster& cluster,
                                  const PostFilterResult& waiting,
                                  std::span<const PreemptionCandidate> candidates);

}  // namespace berth::framework
