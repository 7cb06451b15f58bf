// The room table is the design. It holds only if a wrong include does not compile, so these tests ask the
// compiler itself, with the include folders that the build gives each room.

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "house/command.h"
#include "house/project_tree.h"
#include "house/room_table.h"
#include "house/scratch.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Runs the compiler as the build would for a file of `room`, up to the phase that `mode` names.
CommandResult Compile(const std::string& room, const std::vector<std::string>& mode,
                      const std::string& text) {
  const fs::path folder = Scratch("rooms");
  fs::create_directories(folder);
  const fs::path source = folder / (room + ".cpp");
  std::ofstream(source) << text;
  std::vector<std::string> command = {BERTH_COMPILER, "-std=c++23", "-x", "c++"};
  command.insert(command.end(), mode.begin(), mode.end());
  const std::string folders = ReadWhole(BERTH_BUILD_DIR "/rooms/" + room + ".includes");
  for (const std::string_view root : Lines(folders)) {
    if (!root.empty()) command.push_back("-I" + std::string(root));
  }
  command.push_back(source);
  CommandResult result = RunCommand(command);
  fs::remove_all(folder);
  return result;
}

std::set<std::string> VisibleFrom(const std::string& room, const RoomTable& table) {
  std::string probe;
  for (const auto& [other, depends] : table) {
    probe += "#if __has_include(\"" + other + "/CMakeLists.txt\")\nvisible " + other + "\n#endif\n";
  }
  const CommandResult result = Compile(room, {"-E", "-P"}, probe);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  std::set<std::string> visible;
  for (const std::string_view line : Lines(result.output)) {
    const std::vector<std::string> words = Words(line);
    if (words.size() == 2 && words[0] == "visible") visible.insert(words[1]);
  }
  return visible;
}

std::set<std::string> FoldersOfSrc() {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(BERTH_SOURCE_DIR "/src")) {
    if (entry.is_directory()) folders.insert(entry.path().filename());
  }
  return folders;
}

TEST(Rooms, EachSeesExactlyWhatItsDependsLineReaches) {
  const RoomTable table = BuildTable();
  ASSERT_GE(table.size(), 19U);
  for (const auto& [room, depends] : table) {
    EXPECT_EQ(VisibleFrom(room, table), Closure(table, room)) << "as seen from src/" << room;
  }
}

TEST(Rooms, AllowedIncludeCompiles) {
  const CommandResult result = Compile("api", {"-fsyntax-only"}, "#include \"base/error.h\"\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(Rooms, IncludeAgainstTheTableDoesNotCompile) {
  const CommandResult result = Compile("base", {"-fsyntax-only"}, "#include \"api/meta.h\"\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("api/meta.h"));
  // g++ and clang word it differently.
  EXPECT_THAT(result.output, testing::AnyOf(HasSubstr("No such file"), HasSubstr("file not found")));
}

TEST(Rooms, NoneReachesItself) {
  const RoomTable table = BuildTable();
  for (const auto& [room, depends] : table) {
    for (const std::string& next : depends) {
      EXPECT_FALSE(Closure(table, next).contains(room)) << room << " and " << next << " depend on each other";
    }
  }
}

TEST(Rooms, FoldersOfSrcAreTheRoomsOfTheBuild) {
  std::set<std::string> rooms;
  for (const auto& [room, depends] : BuildTable()) rooms.insert(room);
  EXPECT_EQ(FoldersOfSrc(), rooms);
}

TEST(Rooms, ArchitecturePageShowsTheTableOfTheBuild) {
  RoomTable page = ParsePageTable(ReadWhole(BERTH_SOURCE_DIR "/docs/architecture.md"));
  for (const auto& [room, depends] : BuildTable()) {
    EXPECT_TRUE(page.contains(room)) << "docs/architecture.md has no row for " << room;
    EXPECT_EQ(page[room], depends)
        << "docs/architecture.md and DEPENDS in src/" << room
        << "/CMakeLists.txt differ: readers of the page would plan with the wrong graph";
    page.erase(room);
  }
  EXPECT_TRUE(page.empty()) << "docs/architecture.md has a row for " << page.begin()->first
                            << ", which is no room";
}

TEST(RoomTable, PageRowsAreRead) {
  const RoomTable table = ParsePageTable(
      "| other | table | here |\n|---|---|---|\n| `x` | y | z |\n\n"
      "| room | what | depends on |\n|---|---|---|\n"
      "| `base` | tools | – |\n| `queue` | order | `cluster`, base |\n\n| room | again | base |\n");
  EXPECT_EQ(table, (RoomTable{{"base", {}}, {"queue", {"cluster", "base"}}}));
}

TEST(RoomTable, ClosureFollowsEveryPath) {
  const RoomTable table = {{"a", {}}, {"b", {"a"}}, {"c", {"b"}}, {"d", {"a"}}};
  EXPECT_EQ(Closure(table, "c"), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(Closure(table, "d"), (std::set<std::string>{"a", "d"}));
}

}  // namespace
}  // namespace berth::house
