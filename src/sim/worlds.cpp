#include "sim/worlds.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace berth::sim {
namespace {

using std::chrono::milliseconds;

// Any number: the draws of a world differ from those of the rest.
constexpr std::uint64_t kSeedOfWorlds = 0x9e3779b97f4a7c15;

constexpr std::array<std::string_view, 5> kNeeded = {
    "persistentvolume-binder-controller", "csi-provisioner", "ephemeral-volume-controller",
    "resourceclaim-controller", "garbage-collector-controller"};

base::Duration DrawDelay(base::Random& random) {
  return milliseconds(10 + random.Uniform(random.Chance(0.3) ? 20'000 : 500));
}

sandbox::Controllers::Options OnlyTheNeeded(base::Duration provision_delay) {
  sandbox::Controllers::Options options;
  for (const std::string_view name : sandbox::Controllers::Names()) {
    if (std::ranges::find(kNeeded, name) == kNeeded.end()) options.disabled.insert(std::string(name));
  }
  options.provision_delay = provision_delay;
  return options;
}

}  // namespace

Worlds::Worlds(sandbox::ControlPlane& plane, int nodes, std::uint64_t seed)
    : random_(seed ^ kSeedOfWorlds),
      provision_delay_(DrawDelay(random_)),
      has_volumes_(random_.Chance(0.5)),
      has_devices_(random_.Chance(0.5)) {
  if (has_volumes_ || has_devices_) controllers_.emplace(plane, OnlyTheNeeded(provision_delay_));
  if (has_volumes_) volumes_.emplace(plane, VolumeWorld::Size{.nodes = nodes}, random_.Split());
  if (has_devices_) devices_.emplace(plane, DeviceWorld::Size{.nodes = nodes}, random_.Split());
}

void Worlds::Begin() {
  if (volumes_) volumes_->Begin();
  if (devices_) devices_->Begin();
}

void Worlds::Act() {
  if (volumes_) volumes_->Act();
  if (devices_) devices_->Act();
}

void Worlds::EndFaults() {
  if (volumes_) volumes_->EndFaults();
}

void Worlds::Check(Violations& violations) {
  if (volumes_) volumes_->Check(violations);
  if (devices_) devices_->Check(violations);
}

void Worlds::CheckNothingIsHeld(Violations& violations) const {
  if (devices_) devices_->CheckNothingIsHeld(violations);
}

std::string Worlds::Describe() const {
  if (!has_volumes_ && !has_devices_) return "";
  return fmt::format(
      ", {}{}{}",
      has_volumes_ ? fmt::format("volumes made in {} ms", provision_delay_ / milliseconds(1)) : "",
      has_volumes_ && has_devices_ ? ", " : "", has_devices_ ? "devices" : "");
}

}  // namespace berth::sim
