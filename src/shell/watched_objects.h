#pragma once

#include <span>
#include <vector>

#include "client/object_store.h"
#include "client/resource.h"

#include "core/messages.h"

namespace berth::shell {

// What the core wants to know of.
std::span<const client::Resource> WatchedResources();

// What reflectors report, as inputs of the core.
void AppendInputs(std::span<const client::ObjectEvent> events, std::vector<core::Input>& inputs);
inline void AppendInputs(const client::EventBatch& batch, std::vector<core::Input>& inputs) {
  AppendInputs(batch.events, inputs);
}

}  // namespace berth::shell
