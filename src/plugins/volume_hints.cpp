#include "plugins/volume_hints.h"

#include <expected>
#include <variant>

#include "api/storage.h"
#include "base/error.h"

namespace berth::plugins {
namespace {

const api::PersistentVolumeClaim* ClaimIn(const framework::EventObject& object) {
  const auto* const claim = std::get_if<const api::PersistentVolumeClaim*>(&object);
  return claim == nullptr ? nullptr : *claim;
}

}  // namespace

framework::PreHintFn PodsNamingTheClaim(const cluster::ClaimIndex& index) {
  return [&index](const framework::PreHintInput& input) -> base::Result<framework::PreHint> {
    const api::PersistentVolumeClaim* claim = ClaimIn(input.new_object);
    if (claim == nullptr) claim = ClaimIn(input.old_object);
    if (claim == nullptr) return base::Fail("the event is about an object of another kind");
    return framework::PreHint{.all_pods = false,
                              .pods = index.PodsOf(cluster::ClaimIndex::Kind::kVolumeClaim,
                                                   claim->metadata.namespace_, claim->metadata.name)};
  };
}

}  // namespace berth::plugins
