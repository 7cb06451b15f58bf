// Pages are read by people who cannot know yet that they are wrong: what they point to must be there.

#include "house/pages.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "house/project_tree.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

const fs::path kRoot = BERTH_SOURCE_DIR;

std::vector<File> Pages() {
  std::vector<File> pages;
  for (File& file : ReadProject()) {
    if (file.path.ends_with(".md")) pages.push_back(std::move(file));
  }
  return pages;
}

bool IsOutside(const std::string& link) { return link.starts_with("http") || link.starts_with("mailto:"); }

TEST(Pages, EveryLinkLeadsSomewhere) {
  int links = 0;
  for (const File& file : Pages()) {
    for (const std::string& link : ParsePage(file.text).links) {
      if (IsOutside(link)) continue;
      ++links;
      const std::string name = link.substr(0, link.find('#'));
      const fs::path target = name.empty() ? kRoot / file.path : (kRoot / file.path).parent_path() / name;
      EXPECT_TRUE(fs::exists(target)) << file.path << " links to " << link;
      if (link.find('#') == std::string::npos || target.extension() != ".md" || !fs::exists(target)) continue;
      EXPECT_TRUE(ParsePage(ReadWhole(target)).anchors.contains(link.substr(link.find('#') + 1)))
          << file.path << " links to " << link << ", which is no heading there";
    }
  }
  EXPECT_GT(links, 5) << "hardly any link was found";
}

TEST(Pages, EveryMakeTargetTheyNameExists) {
  const std::set<std::string> targets = MakeTargets(ReadWhole(kRoot / "Makefile"));
  std::set<std::string> named;
  for (const File& file : Pages()) {
    for (const std::string& target : MakeTargetsNamed(ParsePage(file.text))) {
      EXPECT_TRUE(targets.contains(target)) << file.path << " says: make " << target;
      named.insert(target);
    }
  }
  EXPECT_TRUE(named.contains("run") && named.contains("test"))
      << "the two commands of README.md were not found";
}

TEST(Pages, EveryFileTheyNameExists) {
  for (const File& file : Pages()) {
    for (const std::string& path : PathsNamed(ParsePage(file.text))) {
      EXPECT_TRUE(fs::exists(kRoot / path) || fs::exists((kRoot / file.path).parent_path() / path))
          << file.path << " names " << path;
    }
  }
}

TEST(Makefile, EveryToolItRunsIsThereAndExecutable) {
  int tools = 0;
  const std::string makefile = ReadWhole(kRoot / "Makefile");
  for (const std::string_view line : Lines(makefile)) {
    for (std::string word : Words(line)) {
      if (word.starts_with('@')) word.erase(0, 1);
      if (!word.starts_with("tools/")) continue;
      ++tools;
      EXPECT_EQ(fs::status(kRoot / word).permissions() & fs::perms::owner_exec, fs::perms::owner_exec)
          << word;
    }
  }
  EXPECT_GT(tools, 3);
}

TEST(Page, LinksSpansAndAnchorsAreRead) {
  const Page page = ParsePage(
      "# The life of a pod\n## `make`, and more!\nSee [one](a.md) and [two](b.md#x), not `code`.\n"
      "```\n[no](link)\nmake test\n```\n");
  EXPECT_THAT(page.links, ElementsAre("a.md", "b.md#x"));
  EXPECT_THAT(page.code_spans, ElementsAre("make", "code"));
  EXPECT_THAT(page.code_lines, ElementsAre("[no](link)", "make test"));
  EXPECT_THAT(page.anchors, UnorderedElementsAre("the-life-of-a-pod", "make-and-more"));
}

TEST(Page, MakeTargetsAreReadFromCodeOnly) {
  const Page page = ParsePage(
      "make sure that `make test` and `make fuzz FUZZ=json` run.\n```\nmake lint asan  # both\ncmake "
      "--preset dev\n```\n");
  EXPECT_THAT(MakeTargetsNamed(page), UnorderedElementsAre("test", "fuzz", "lint", "asan"));
}

TEST(Page, PatternsAreNoPaths) {
  const Page page = ParsePage(
      "`src/queue/heap.h` `test/<room>/*_test.cpp` `docs/decisions/NNNN-title.md` `build/dev` `tools/lint "
      "x`\n");
  EXPECT_THAT(PathsNamed(page), UnorderedElementsAre("src/queue/heap.h", "tools/lint"));
}

TEST(Page, TargetsOfAMakefileAreReadWithoutItsVariables) {
  EXPECT_THAT(MakeTargets(".PHONY: run\nPRESET ?= dev\nmode:=x\nrun: build ## start\n\t@tools/run\nclean:\n"),
              UnorderedElementsAre("run", "clean"));
}

}  // namespace
}  // namespace berth::house
