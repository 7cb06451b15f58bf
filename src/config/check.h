#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/compile.h"
#include "framework/features.h"

namespace berth::config {

struct LocatedProblem {
  std::size_t line = 0;  // 0: of no single line
  std::string message;

  bool operator==(const LocatedProblem&) const = default;
};

// Everything that is wrong with a file, by line: where kube-scheduler stops at the first kind of mistake,
// this goes on as far as it can.
std::vector<LocatedProblem> CheckFile(std::string_view text, const PluginCatalog& catalog,
                                      const framework::Features& features);

// What a scheduler would run with the file, for people: settings with where each comes from, and per profile
// the plugins of every point in order and their arguments. `defaults` is what a file that says nothing comes
// to: it is shown beside what the file changes.
std::string DescribeFile(std::string_view text, const Compiled& compiled, const Compiled& defaults);

// What differs between two configurations: one line per setting, "- path: value" and "+ path: value".
std::string DiffConfigurations(const Compiled& a, const Compiled& b);

}  // namespace berth::config
