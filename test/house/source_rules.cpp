#include "house/source_rules.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <re2/re2.h>
#include <set>

#include "house/room_table.h"

namespace berth::house {
namespace {

using Applies = std::function<bool(std::string_view path)>;

bool Anything(std::string_view) { return true; }
bool InSrcHeader(std::string_view path) { return path.starts_with("src/") && IsHeader(path); }
bool InTests(std::string_view path) { return path.starts_with("test/") && IsCode(path); }

// These two files spell out what they forbid.
bool SpellsOutTheRules(std::string_view path) {
  return path == "test/house/source_rules.cpp" || path == "test/house/source_rules_test.cpp";
}

// The rooms whose outcome must depend on their inputs alone.
bool InDeterministicRoom(std::string_view path) {
  static const std::set<std::string> rooms = Closure(BuildTable(), "core");
  return IsCode(path) && rooms.contains(std::string(RoomOf(path)));
}

std::string_view WithoutComment(std::string_view line) { return line.substr(0, line.find("//")); }

bool IsExcused(const std::vector<std::string_view>& lines, std::size_t index, std::string_view rule) {
  const std::string mark = "// house: " + std::string(rule) + ": ";
  const auto excuses = [&](std::string_view line) {
    const std::size_t at = line.find(mark);
    return at != std::string_view::npos && line.size() > at + mark.size();
  };
  return excuses(lines[index]) || (index > 0 && excuses(lines[index - 1]));
}

enum class Part { kWholeLine, kCode };

// No line of the files concerned may match.
Rule NoLine(std::string_view name, std::string_view reason, Applies applies, Part part,
            const std::string& pattern) {
  const auto regex = std::make_shared<RE2>(pattern);
  return {name, reason, [=](std::span<const File> files) {
            std::vector<Finding> findings;
            for (const File& file : files) {
              if (!applies(file.path) || SpellsOutTheRules(file.path)) continue;
              const std::vector<std::string_view> lines = Lines(file.text);
              for (std::size_t i = 0; i < lines.size(); ++i) {
                const std::string_view looked_at = part == Part::kCode ? WithoutComment(lines[i]) : lines[i];
                if (!RE2::PartialMatch({looked_at.data(), looked_at.size()}, *regex)) continue;
                if (!IsExcused(lines, i, name))
                  findings.push_back({file.path, static_cast<int>(i) + 1, Trim(lines[i])});
              }
            }
            return findings;
          }};
}

// One question to each file concerned: what is wrong with it, or nothing.
Rule EachFile(std::string_view name, std::string_view reason, Applies applies,
              std::function<std::string(const File&)> complaint) {
  return {name, reason, [=](std::span<const File> files) {
            std::vector<Finding> findings;
            for (const File& file : files) {
              if (!applies(file.path)) continue;
              if (std::string what = complaint(file); !what.empty()) findings.push_back({file.path, 0, what});
            }
            return findings;
          }};
}

constexpr std::size_t kLinesMax = 800;

std::string TooLong(const File& file) {
  const std::size_t lines = Lines(file.text).size();
  return lines > kLinesMax ? std::to_string(lines) + " lines" : "";
}

std::string NoFinalNewline(const File& file) {
  return file.text.empty() || file.text.ends_with('\n') ? "" : "the last line has no end";
}

std::string NoPragmaOnce(const File& file) {
  for (const std::string_view line : Lines(file.text)) {
    if (line.empty() || line.starts_with("//")) continue;
    return line == "#pragma once" ? "" : "starts with: " + std::string(line);
  }
  return "is empty";
}

std::string WrongNamespace(const File& file) {
  const std::string wanted = "namespace berth::" + std::string(RoomOf(file.path));
  return file.text.find(wanted) == std::string::npos ? "does not open " + wanted : "";
}

std::vector<Finding> OwnHeaderNotFirst(std::span<const File> files) {
  std::set<std::string_view> headers;
  for (const File& file : files) {
    if (InSrcHeader(file.path)) headers.insert(file.path);
  }
  std::vector<Finding> findings;
  for (const File& file : files) {
    if (!file.path.starts_with("src/") || !file.path.ends_with(".cpp")) continue;
    const std::string own = file.path.substr(0, file.path.size() - 3) + "h";
    if (!headers.contains(own)) continue;
    const std::string wanted = "#include \"" + own.substr(4) + "\"";
    const std::vector<std::string_view> lines = Lines(file.text);
    const auto first =
        std::ranges::find_if(lines, [](std::string_view line) { return line.starts_with("#include"); });
    if (first == lines.end() || *first != wanted) {
      findings.push_back({file.path, static_cast<int>(first - lines.begin()) + 1, "expected " + wanted});
    }
  }
  return findings;
}

// Names that a file declares with a hash table as their type, also through an alias. A heuristic: it reads
// lines, not types.
std::set<std::string> HashTableNames(std::string_view text) {
  static const RE2 alias(
      R"(using (\w+) = (?:absl::|std::)?(?:flat_hash|node_hash|unordered)_(?:multi)?(?:map|set)<)");
  std::string types = R"((?:(?:flat_hash|node_hash|unordered)_(?:multi)?(?:map|set)<.*>)";
  for (const std::string_view line : Lines(text)) {
    std::string name;
    if (RE2::PartialMatch({line.data(), line.size()}, alias, &name)) types += "|\\b" + name;
  }
  const RE2 declaration(types + R"()[&*]*\s+[&*]?(\w+)(?: ABSL_\w+\(\w+\))?\s*(?:[;={,)]|\(\)))");
  std::set<std::string> names;
  const std::vector<std::string_view> lines = Lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string statement(WithoutComment(lines[i]));
    if (i + 1 < lines.size()) statement += " " + Trim(WithoutComment(lines[i + 1]));  // wrapped declarations
    std::string name;
    if (RE2::PartialMatch(statement, declaration, &name)) names.insert(name);
  }
  return names;
}

std::vector<Finding> HashOrderLoops(std::span<const File> files) {
  std::map<std::string_view, std::string_view> headers;
  for (const File& file : files) {
    if (IsHeader(file.path)) headers[file.path] = file.text;
  }
  std::vector<Finding> findings;
  for (const File& file : files) {
    if (!InDeterministicRoom(file.path)) continue;
    std::set<std::string> names = HashTableNames(file.text);
    if (const auto own = headers.find(file.path.substr(0, file.path.rfind('.')) + ".h");
        own != headers.end()) {
      names.merge(HashTableNames(own->second));
    }
    const std::vector<std::string_view> lines = Lines(file.text);
    for (const std::string& name : names) {
      const RE2 walk(R"((?:for \(.*:\s*(?:[\w\]\[]+(?:\.|->))*\*?)" + name + R"((?:\(\))?\)|\b)" + name +
                     R"((?:\(\))?(?:\.|->)c?begin\())");
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view code = WithoutComment(lines[i]);
        if (!RE2::PartialMatch({code.data(), code.size()}, walk) || IsExcused(lines, i, "hash-order"))
          continue;
        findings.push_back({file.path, static_cast<int>(i) + 1, Trim(lines[i])});
      }
    }
  }
  return findings;
}

std::vector<Rule> WholeFileRules() {
  return {
      EachFile("length",
               "a file of more than 800 lines has a seam that nobody has looked for: split it there", IsCode,
               TooLong),
      EachFile("final-newline", "tools that join files would glue two lines together", Anything,
               NoFinalNewline),
      EachFile("pragma-once", "a header that is included twice must not define twice", IsHeader,
               NoPragmaOnce),
      EachFile("namespace",
               "folder, namespace and target of a room share one name, so that one search finds all three",
               InSrcHeader, WrongNamespace),
      {"own-header-first", "a .cpp that includes its own header first proves that the header compiles alone",
       OwnHeaderNotFirst},
      {"hash-order",
       "hash tables iterate in random order, and an order that reaches a decision, a message or an API call "
       "breaks "
       "replay: sort first, keep a vector beside the map, or excuse the line with the reason why order "
       "cannot matter",
       HashOrderLoops},
  };
}

// RealClock is the one door to the machine's clock.
bool MustNotReadTheMachine(std::string_view path) {
  return InDeterministicRoom(path) && path != "src/base/clock.cpp";
}

constexpr const char* kIssueNumber =
    R"((?i)(?:\bissue|\bpull request|\bPR) ?#\d+|\w/[\w-]+#\d+|/(?:issues|pull)/\d+)";
constexpr const char* kVagueTest =
    R"(^(?:TEST(?:_F|_P)?|RC_GTEST_PROP)\(\w+, *(?:Basic|Simple|Works|Misc|Sanity|Smoke|Test)\w{0,2}[,)])";
constexpr const char* kHeavyInclude =
    R"(^\s*#\s*include\s*["<](?:boost/(?:[a-ik-z]|json\.hpp|json/[a-eg-z])|simdjson|yaml-cpp/|re2/|openssl/)"
    R"(|spdlog/|CLI/))";
// Up to the parenthesis that closes the condition, with two levels of others inside.
constexpr const char* kAwaitInCondition =
    R"(\b(?:if|while|switch) \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\bco_await\b)";
constexpr const char* kNondeterminism =
    R"(\b(?:system_clock|steady_clock|high_resolution_clock)::now\b|\brandom_device\b|\bthis_thread\b)"
    R"(|\bstd::(?:jthread|thread|async)\b)"
    R"(|\b(?:gettimeofday|clock_gettime|time|rand)\((?:\)|nullptr|NULL|&|CLOCK))";
// Statements as the formatter writes them. Examples inside a comment are indented by more than one blank.
constexpr const char* kDeadCode =
    R"(^\s*//\s?(?:return\b.*;|[A-Za-z_][\w:<>,&* ]* [\w\[\]]+ = .*;|[a-z_]\w*(?:(?:\.|->|::)\w+)*\(.*\);)"
    R"(|#include .*|\}|(?:if|for|while) \(.*\{)$)";

std::vector<Rule> TextRules() {
  return {
      NoLine("leftover-note", "a note to oneself ships and nobody comes back: do it, or describe the limit",
             Anything, Part::kWholeLine, R"(\b(?:TODO|FIXME|XXX|HACK)\b)"),
      NoLine("trailing-whitespace", "it shows up as a change in every later diff", Anything, Part::kWholeLine,
             R"([ \t\r]$)"),
      NoLine("machine-path", "a path of one person's machine means nothing on another", Anything,
             Part::kWholeLine, R"((?:^|[^\w.])/(?:home|root|work|Users)/[\w.])"),
      NoLine("issue-number", "a number needs its tracker open beside it, and trackers move: say it in words",
             Anything, Part::kWholeLine, kIssueNumber),
      NoLine("dead-code", "code in a comment is never compiled and soon wrong; history keeps what was there",
             IsCode, Part::kWholeLine, kDeadCode),
  };
}

std::vector<Rule> CodeRules() {
  return {
      NoLine("sleep", "a test that sleeps is slow always and wrong on a slow machine: use the virtual clock",
             InTests, Part::kCode, R"(\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\()"),
      NoLine("disabled-test", "a test that does not run passes for ever", InTests, Part::kCode,
             R"(\bDISABLED_\w)"),
      NoLine("vague-test-name",
             "the name is the first thing read when a test fails: say which behaviour it shows", InTests,
             Part::kCode, kVagueTest),
      NoLine("parent-include", "\"../\" walks around the include roots that keep the rooms apart", IsCode,
             Part::kCode, R"(^\s*#\s*include\s*["<][^">]*\.\./)"),
      NoLine("await-in-condition",
             "g++ 12 can lose the coroutine's place there, and it ends in an illegal instruction: name the "
             "value, then ask",
             IsCode, Part::kCode, kAwaitInCondition),
      NoLine("using-namespace", "in a header it changes what names mean in every file that includes it",
             IsHeader, Part::kCode, R"(\busing namespace\b)"),
      NoLine("heavy-include",
             "these libraries cost seconds per file: keep them in .cpp files (boost/json/fwd.hpp is light)",
             InSrcHeader, Part::kCode, kHeavyInclude),
      NoLine(
          "nondeterminism",
          "what decides must depend on its inputs alone, or a run cannot be replayed: time comes from Clock, "
          "randomness from the seeded generator, threads from the shell",
          MustNotReadTheMachine, Part::kCode, kNondeterminism),
  };
}

}  // namespace

std::vector<Rule> SourceRules() {
  std::vector<Rule> rules = WholeFileRules();
  std::ranges::move(TextRules(), std::back_inserter(rules));
  std::ranges::move(CodeRules(), std::back_inserter(rules));
  return rules;
}

}  // namespace berth::house
