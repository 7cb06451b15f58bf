// The sources, judged by the rules; and the rules, judged by examples, because a rule that cannot fail is no
// rule.

#include "house/source_rules.h"

#include <gtest/gtest.h>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>

namespace berth::house {
namespace {

std::vector<Rule> AllRules() {
  std::vector<Rule> rules = SourceRules();
  for (Rule& rule : StructureRules()) rules.push_back(std::move(rule));
  return rules;
}

const Rule& RuleNamed(std::string_view name) {
  static const std::vector<Rule> rules = AllRules();
  for (const Rule& rule : rules) {
    if (rule.name == name) return rule;
  }
  throw std::invalid_argument("no rule " + std::string(name));
}

std::string Show(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += "  " + finding.path + (finding.line > 0 ? ":" + std::to_string(finding.line) : "") + ": " +
            finding.what + "\n";
  }
  return text;
}

std::string TestName(std::string_view name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c == '-') {
      upper = true;
    } else {
      result += upper ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return result;
}

class SourcesKeep : public testing::TestWithParam<std::string_view> {};

TEST_P(SourcesKeep, TheRule) {
  static const std::vector<File> project = ReadProject();
  ASSERT_GT(project.size(), 50U) << "the project's files were not found";
  const Rule& rule = RuleNamed(GetParam());
  const std::vector<Finding> findings = rule.check(project);
  EXPECT_TRUE(findings.empty()) << rule.name << ": " << rule.reason << "\n" << Show(findings);
}

std::vector<std::string_view> RuleNames() {
  std::vector<std::string_view> names;
  for (const Rule& rule : AllRules()) names.push_back(rule.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(House, SourcesKeep, testing::ValuesIn(RuleNames()),
                         [](const auto& test) { return TestName(test.param); });

struct Example {
  std::string_view rule;
  std::string_view name;
  std::vector<File> files;
  int findings;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.rule << ", " << example.name; }

std::string Repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

const std::string kHashMember = "#pragma once\nabsl::flat_hash_map<int, int> by_id_;\n";

std::vector<Example> Examples() {
  return {
      {"length", "AtTheLimit", {{"src/api/a.cpp", Repeated("x\n", 800)}}, 0},
      {"length",
       "BeyondTheLimit",
       {{"src/api/a.cpp", Repeated("x\n", 801)}, {"src/api/a.h", Repeated("x\n", 801)}},
       2},
      {"final-newline", "There", {{"README.md", "text\n"}}, 0},
      {"final-newline", "Missing", {{"README.md", "text"}}, 1},
      {"pragma-once", "AfterAComment", {{"src/api/a.h", "// Why.\n\n#pragma once\n"}}, 0},
      {"pragma-once", "GuardInstead", {{"src/api/a.h", "#ifndef A_H\n#define A_H\n#endif\n"}}, 1},
      {"pragma-once", "NothingAtAll", {{"src/api/a.h", "// Only words.\n"}}, 1},
      {"namespace", "OfTheRoom", {{"src/api/a.h", "namespace berth::api {\n"}}, 0},
      {"namespace", "OfAnotherRoom", {{"src/api/a.h", "namespace berth::queue {\n"}}, 1},
      {"own-header-first",
       "First",
       {{"src/api/x/a.cpp", "// Why.\n#include \"api/x/a.h\"\n"}, {"src/api/x/a.h", ""}},
       0},
      {"own-header-first", "NoHeader", {{"src/api/a.cpp", "#include <map>\n"}}, 0},
      {"own-header-first",
       "Second",
       {{"src/api/a.cpp", "#include <map>\n#include \"api/a.h\"\n"}, {"src/api/a.h", ""}},
       1},
      {"hash-order",
       "LookUp",
       {{"src/queue/a.cpp", kHashMember + "by_id_.find(3);\nfor (int x : by_id_order) f(x);\n"}},
       0},
      {"hash-order",
       "RangeLoop",
       {{"src/queue/a.cpp", kHashMember + "for (const auto& [k, v] : by_id_) f(k);\n"}},
       1},
      {"hash-order",
       "LoopOverAMemberOfTheOwnHeader",
       {{"src/queue/a.h", kHashMember}, {"src/queue/a.cpp", "for (auto& e : state.by_id_) f(e);\n"}},
       1},
      {"hash-order",
       "Iterators",
       {{"src/queue/a.cpp", kHashMember + "std::vector<int> v(by_id_.begin(), by_id_.end());\n"}},
       1},
      {"hash-order",
       "ThroughAnAlias",
       {{"src/queue/a.cpp", "using Ids = std::unordered_set<int>;\nIds ids;\nfor (int id : ids) f(id);\n"}},
       1},
      {"hash-order",
       "DeclarationOverTwoLines",
       {{"src/queue/a.cpp",
         "absl::flat_hash_map<int, std::string>\n    names;\nfor (auto& n : names) f(n);\n"}},
       1},
      {"hash-order",
       "Parameter",
       {{"src/queue/a.cpp",
         "void F(const absl::flat_hash_set<int>& ids) {\n  for (int id : ids) f(id);\n}\n"}},
       1},
      {"hash-order",
       "Excused",
       {{"src/queue/a.cpp",
         kHashMember + "// house: hash-order: a sum\nfor (auto& e : by_id_) sum += e.second;\n"}},
       0},
      {"hash-order",
       "ExcusedWithoutReason",
       {{"src/queue/a.cpp",
         kHashMember + "// house: hash-order: \nfor (auto& e : by_id_) sum += e.second;\n"}},
       1},
      {"hash-order",
       "OutsideTheCore",
       {{"src/client/a.cpp", kHashMember + "for (auto& e : by_id_) f(e);\n"}},
       0},
      {"leftover-note", "Plain", {{"src/api/a.cpp", "// Todos are a kind of list.\n"}}, 0},
      {"leftover-note", "AllFour", {{"tools/x", "# TODO x\n# FIXME\n# XXX\n# HACK: y\n"}}, 4},
      {"trailing-whitespace", "None", {{"docs/a.md", "a\n\nb\n"}}, 0},
      {"trailing-whitespace", "BlankTabAndReturn", {{"docs/a.md", "a \nb\t\nc\r\n"}}, 3},
      {"machine-path",
       "PathsOfTheProduct",
       {{"docs/a.md", "`/healthz`, ~/.kube/config, src/work/x, /etc/kubernetes\n"}},
       0},
      {"machine-path",
       "SomebodysHome",
       {{"docs/a.md", "see /home/jo/berth\n"}, {"src/api/a.cpp", "\"/root/x\"\n"}},
       2},
      {"issue-number", "NumbersInText", {{"docs/a.md", "KEP-5142, #3 of 4, RFC 3339\n"}}, 0},
      {"issue-number",
       "ByNumberAndByLink",
       {{"docs/a.md", "issue #12\norg/project#34\nPR #5\nhttps://example.org/a/b/issues/7\n"}},
       4},
      {"sleep",
       "VirtualTime",
       {{"test/base/a_test.cpp", "co_await SleepFor(1s);\n// never sleep_for(1s)\n"}},
       0},
      {"sleep", "WallClock", {{"test/base/a_test.cpp", "std::this_thread::sleep_for(1s);\nusleep(3);\n"}}, 2},
      {"disabled-test", "Enabled", {{"test/base/a_test.cpp", "TEST(A, IsOn) {}\n"}}, 0},
      {"disabled-test", "Disabled", {{"test/base/a_test.cpp", "TEST(A, DISABLED_IsOff) {}\n"}}, 1},
      {"vague-test-name",
       "Behaviour",
       {{"test/base/a_test.cpp", "TEST(A, TestsTheDoorFirst) {}\nTEST_F(B, WorksOffline) {}\n"}},
       0},
      {"vague-test-name",
       "Vague",
       {{"test/base/a_test.cpp", "TEST(A, Basic) {}\nTEST_F(B, Test2) {}\nRC_GTEST_PROP(C, Works, ()) {}\n"}},
       3},
      {"parent-include", "Rooted", {{"src/api/a.cpp", "#include \"base/error.h\"\n"}}, 0},
      {"parent-include",
       "Parent",
       {{"src/api/a.cpp", "#include \"../queue/heap.h\"\n#include \"base/../queue/heap.h\"\n"}},
       2},
      {"await-in-condition",
       "After",
       {{"src/client/a.cpp", "if (x(y(z))) co_await F();\nwhile (go) co_await G();\n"}},
       0},
      {"await-in-condition", "Negated", {{"src/client/a.cpp", "if (!co_await F(x)) return;\n"}}, 1},
      {"await-in-condition",
       "AfterACall",
       {{"src/client/a.cpp", "while (a(b(c)) && co_await F() == 1) G();\n"}},
       1},
      {"using-namespace", "InASource", {{"src/api/a.cpp", "using namespace std::literals;\n"}}, 0},
      {"using-namespace", "InAHeader", {{"src/api/a.h", "using namespace std;\n"}}, 1},
      {"heavy-include",
       "ForwardDeclarationsAndSources",
       {{"src/wire/a.h", "#include <boost/json/fwd.hpp>\n"}, {"src/wire/a.cpp", "#include <simdjson.h>\n"}},
       0},
      {"heavy-include",
       "Heavy",
       {{"src/wire/a.h",
         "#include <boost/json.hpp>\n#include <boost/json/value.hpp>\n#include <boost/asio.hpp>\n#include "
         "<simdjson.h>\n"
         "#include <yaml-cpp/yaml.h>\n#include <re2/re2.h>\n"}},
       6},
      {"nondeterminism",
       "ClockAndTypes",
       {{"src/core/a.cpp",
         "auto now = clock.Now();\nstd::chrono::system_clock::time_point t;\nlast_time(x);\n"}},
       0},
      {"nondeterminism",
       "Sources",
       {{"src/core/a.cpp",
         "auto t = std::chrono::steady_clock::now();\nstd::random_device d;\nstd::thread "
         "w;\ntime(nullptr);\n"}},
       4},
      {"nondeterminism", "OutsideTheCore", {{"src/client/a.cpp", "std::thread reader;\n"}}, 0},
      {"dead-code",
       "Prose",
       {{"src/api/a.h",
         "// The last one wins (as in Go);\n// if (and only if) it is there.\n//   int x = 3;\n// See "
         "Close().\n"}},
       0},
      {"dead-code",
       "Code",
       {{"src/api/a.cpp",
         "// int x = 3;\n  // return x;\n// heap.push(x);\n//#include <map>\n// if (x) {\n// }\n"}},
       6},
      {"room-readme", "There", {{"src/api/README.md", ""}, {"src/api/a.h", ""}}, 0},
      {"room-readme", "Missing", {{"src/api/a.h", ""}, {"src/base/README.md", ""}}, 1},
      {"file-name", "SnakeCase", {{"src/api/pod_record.h", ""}, {"docs/Any-Name.md", ""}}, 0},
      {"file-name", "OtherCases", {{"src/api/PodRecord.h", ""}, {"src/api/pod-record.cpp", ""}}, 2},
      {"vague-file-name", "NamesTheJob", {{"src/api/string_map.h", ""}}, 0},
      {"vague-file-name", "NamesNothing", {{"src/api/types.h", ""}, {"test/support/utils.cpp", ""}}, 2},
      {"test-file-name",
       "Named",
       {{"test/api/a_test.cpp", "TEST(A, B) {}\n"}, {"test/api/a_bench.cpp", "\n"}},
       0},
      {"test-file-name",
       "TestElsewhere",
       {{"test/api/a_tests.cpp", "TEST(A, B) {}\n"}, {"src/api/a_test.cpp", "TEST_F(A, B) {}\n"}},
       2},
      {"test-file-name", "NoTestInside", {{"test/api/a_test.cpp", "int x;\n"}}, 1},
      {"fuzzer-corpus", "Paired", {{"test/wire/json_fuzz.cpp", ""}, {"test/corpus/wire_json/1", ""}}, 0},
      {"fuzzer-corpus", "NoInputs", {{"test/wire/json_fuzz.cpp", ""}}, 1},
      {"fuzzer-corpus", "NoFuzzer", {{"test/corpus/wire_json/1", ""}}, 1},
  };
}

class RuleJudges : public testing::TestWithParam<Example> {};

TEST_P(RuleJudges, TheExample) {
  const std::vector<Finding> findings = RuleNamed(GetParam().rule).check(GetParam().files);
  EXPECT_EQ(static_cast<int>(findings.size()), GetParam().findings) << Show(findings);
}

INSTANTIATE_TEST_SUITE_P(House, RuleJudges, testing::ValuesIn(Examples()), [](const auto& test) {
  return TestName(test.param.rule) + "_" + std::string(test.param.name);
});

TEST(RuleExamples, EveryRuleHasOneThatPassesAndOneThatFails) {
  std::set<std::string_view> passes;
  std::set<std::string_view> fails;
  for (const Example& example : Examples()) (example.findings == 0 ? passes : fails).insert(example.rule);
  for (const Rule& rule : AllRules()) {
    EXPECT_TRUE(passes.contains(rule.name)) << rule.name << " might refuse everything";
    EXPECT_TRUE(fails.contains(rule.name)) << rule.name << " might refuse nothing";
  }
}

TEST(RuleFinding, NamesFileLineAndText) {
  const std::vector<File> files = {{"src/api/a.cpp", "int x;\n  // FIXME now\n"}};
  const std::vector<Finding> want = {{"src/api/a.cpp", 2, "// FIXME now"}};
  EXPECT_EQ(RuleNamed("leftover-note").check(files), want);
}

}  // namespace
}  // namespace berth::house
