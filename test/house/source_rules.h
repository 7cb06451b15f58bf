#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "house/project_tree.h"

namespace berth::house {

// Where a rule is broken. `line` counts from 1; 0 stands for the file as a whole.
struct Finding {
  std::string path;
  int line = 0;
  std::string what;

  bool operator==(const Finding&) const = default;
};

// Something that no source file may do, and why: the reason is what a person reads whose change breaks it.
//
// Most rules look at one line at a time, so a line may be excused where it stands:
//   // house: <rule>: why this one is right
// on the line itself or on the one above it.
struct Rule {
  std::string_view name;
  std::string_view reason;
  std::function<std::vector<Finding>(std::span<const File>)> check;
};

// Rules about what is inside a file.
std::vector<Rule> SourceRules();
// Rules about which files there are, and which belong together.
std::vector<Rule> StructureRules();

}  // namespace berth::house
