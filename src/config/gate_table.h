#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace berth::config {

enum class Stage : std::uint8_t { kAlpha, kBeta, kStable, kDeprecated };

// A feature gate of Kubernetes 1.37, with berth's default.
struct Gate {
  std::string_view name;
  Stage stage = Stage::kAlpha;
  bool enabled = false;
  bool locked = false;  // to `enabled`
  // The first minor release that has it, where that matters within the range of emulated versions; else 0.
  int introduced_minor = 0;
  std::vector<std::string_view> needs = {};
};

// Every gate that any component of Kubernetes knows: cluster tools pass one list to all of them. Sorted by
// name.
std::span<const Gate> KnownGates();
// Null: not known.
const Gate* FindGate(std::string_view name);

}  // namespace berth::config
