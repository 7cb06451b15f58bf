#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>

namespace berth::cli {

struct ConformanceOptions {
  std::size_t failures_shown_max = 50;  // per file; all are counted
};

struct ConformanceCount {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t undecided = 0;  // of those that failed: a plugin is missing
};

// `berth conformance FILE...`: one line per failing case with the difference, then `N passed, M failed`. A
// file that cannot be read, a line that is no case and a kind that berth does not know count as failed.
ConformanceCount RunConformance(std::span<const std::string> files, const ConformanceOptions& options,
                                std::ostream& out);

}  // namespace berth::cli
