#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace berth::house {

// What a Markdown page says that can be checked against the project.
struct Page {
  std::vector<std::string> links;       // targets of [text](target), as written; fenced blocks are not read
  std::vector<std::string> code_spans;  // `text`
  std::vector<std::string> code_lines;  // lines of fenced blocks
  std::set<std::string> anchors;        // #names that the headings give
};

Page ParsePage(std::string_view markdown);

// The targets named by "make NAME" in code spans and at the start of fenced lines.
std::set<std::string> MakeTargetsNamed(const Page& page);
// The targets that a Makefile has.
std::set<std::string> MakeTargets(std::string_view makefile);

// `src/queue/heap.h`: paths of the project in code spans. Patterns (<room>, *, NNNN, …) and the build folder
// are left out: they name no file that must be there.
std::set<std::string> PathsNamed(const Page& page);

}  // namespace berth::house
