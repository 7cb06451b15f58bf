#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::cel {

// A semantic version 2.0.0. Build metadata is kept for the text and ignored in comparisons.
struct Semver {
  // A part of the prerelease: a number, or a text with at least one other character.
  struct Identifier {
    std::string text;
    std::uint64_t number = 0;
    bool numeric = false;
  };

  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<Identifier> prerelease;
  std::vector<std::string> build;
};

// Strict: "1.2.3-alpha.1+build".
base::Result<Semver> ParseSemver(std::string_view text);
// Takes a leading "v", leading zeros and short versions ("v1.02") as well.
base::Result<Semver> ParseSemverTolerant(std::string_view text);

// -1, 0 or 1.
int CompareSemver(const Semver& left, const Semver& right);
std::string SemverText(const Semver& version);

}  // namespace berth::cel
