#include <algorithm>
#include <array>
#include <re2/re2.h>
#include <set>

#include "house/source_rules.h"

namespace berth::house {
namespace {

std::set<std::string> Paths(std::span<const File> files) {
  std::set<std::string> paths;
  for (const File& file : files) paths.insert(file.path);
  return paths;
}

std::vector<Finding> RoomsWithoutReadme(std::span<const File> files) {
  const std::set<std::string> paths = Paths(files);
  std::set<std::string> rooms;
  for (const File& file : files) rooms.insert(std::string(RoomOf(file.path)));
  rooms.erase("");
  std::vector<Finding> findings;
  for (const std::string& room : rooms) {
    if (!paths.contains("src/" + room + "/README.md"))
      findings.push_back({"src/" + room, 0, "has no README.md"});
  }
  return findings;
}

std::vector<Finding> BadFileNames(std::span<const File> files) {
  static const RE2 snake_case(R"([a-z][a-z0-9_]*\.(?:h|cpp))");
  std::vector<Finding> findings;
  for (const File& file : files) {
    const std::string_view name = FileName(file.path);
    if (IsCode(file.path) && !RE2::FullMatch({name.data(), name.size()}, snake_case)) {
      findings.push_back({file.path, 0, "is not snake_case"});
    }
  }
  return findings;
}

std::vector<Finding> VagueFileNames(std::span<const File> files) {
  constexpr std::array kVague = {"types", "utils", "util", "common", "helpers", "helper", "misc", "stuff"};
  std::vector<Finding> findings;
  for (const File& file : files) {
    const std::string_view name = FileName(file.path);
    if (IsCode(file.path) && std::ranges::find(kVague, name.substr(0, name.rfind('.'))) != kVague.end()) {
      findings.push_back({file.path, 0, "says nothing about what is inside"});
    }
  }
  return findings;
}

std::vector<Finding> TestsUnderOtherNames(std::span<const File> files) {
  static const RE2 test(R"((?m)^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\()");
  std::vector<Finding> findings;
  for (const File& file : files) {
    if (!file.path.ends_with(".cpp")) continue;
    const bool named = file.path.starts_with("test/") && file.path.ends_with("_test.cpp");
    const bool holds_tests = RE2::PartialMatch(file.text, test);
    if (holds_tests && !named)
      findings.push_back({file.path, 0, "holds tests but is not test/<room>/..._test.cpp"});
    if (named && !holds_tests) findings.push_back({file.path, 0, "is named a test but holds none"});
  }
  return findings;
}

// test/wire/json_fuzz.cpp belongs to test/corpus/wire_json/.
std::vector<Finding> FuzzersWithoutCorpus(std::span<const File> files) {
  static const RE2 fuzzer(R"(test/([a-z]+)/([a-z0-9_]+)_fuzz\.cpp)");
  static const RE2 input(R"(test/corpus/([^/]+)/.*)");
  std::set<std::string> wanted;
  std::set<std::string> there;
  for (const File& file : files) {
    std::string room;
    std::string name;
    if (RE2::FullMatch(file.path, fuzzer, &room, &name)) wanted.insert(room + "_" + name);
    if (RE2::FullMatch(file.path, input, &name)) there.insert(name);
  }
  std::vector<Finding> findings;
  for (const std::string& name : wanted) {
    if (!there.contains(name)) findings.push_back({"test/corpus/" + name, 0, "is missing or empty"});
  }
  for (const std::string& name : there) {
    if (!wanted.contains(name)) findings.push_back({"test/corpus/" + name, 0, "belongs to no fuzzer"});
  }
  return findings;
}

}  // namespace

std::vector<Rule> StructureRules() {
  return {
      {"room-readme",
       "a room says in a few lines what lives there and what does not, or things end up anywhere",
       RoomsWithoutReadme},
      {"file-name", "one way to write a name, so that nobody has to guess it", BadFileNames},
      {"vague-file-name",
       "such files collect everything and grow without end: name the type or the job instead",
       VagueFileNames},
      {"test-file-name", "the build looks for ..._test.cpp: tests in other files would silently not be built",
       TestsUnderOtherNames},
      {"fuzzer-corpus",
       "each fuzzer replays test/corpus/<room>_<name>/ as a test; without inputs it tests nothing",
       FuzzersWithoutCorpus},
  };
}

}  // namespace berth::house
