#include "cli/conformance/command.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <ostream>

#include "cli/conformance/case_file.h"
#include "cli/conformance/cases.h"
#include "cli/silence.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

// Cases have names in some suites only; the others are found again by their line.
std::string NameOf(const std::string& path, std::size_t line, const json::object* test_case) {
  std::string name = path + ":" + std::to_string(line);
  if (test_case == nullptr) return name;
  if (const json::value* own = test_case->if_contains("name"); own != nullptr && own->is_string()) {
    name += " " + std::string(own->get_string());
  }
  return name;
}

std::optional<std::string> CheckLine(const json::value& parsed) {
  if (!parsed.is_object()) return "not a JSON object";
  const Suite* suite = SuiteOf(parsed.get_object());
  if (suite == nullptr) return "a kind of case that berth does not know";
  return suite->check(parsed.get_object());
}

class FileRun {
 public:
  FileRun(const std::string& path, const ConformanceOptions& options, std::ostream& out)
      : path_(path), options_(options), out_(out) {}

  ConformanceCount Run() {
    const auto read =
        ForEachLine(path_, [this](std::size_t number, std::string_view line) { CheckOne(number, line); });
    if (!read) Fail(read.error().message);
    if (read && count_.passed + count_.failed == 0) Fail(path_ + ": no case in it");
    if (count_.failed > options_.failures_shown_max) {
      out_ << path_ << ": " << count_.failed - options_.failures_shown_max << " further failures not shown\n";
    }
    return count_;
  }

 private:
  void CheckOne(std::size_t number, std::string_view line) {
    json::error_code error;
    json::parse_options deep;
    deep.max_depth = 256;
    const json::value parsed = json::parse(line, error, {}, deep);
    if (error) return Fail(NameOf(path_, number, nullptr) + ": " + error.message());
    if (const auto difference = CheckLine(parsed)) {
      if (difference->starts_with(kNotDecided)) ++count_.undecided;
      return Fail(NameOf(path_, number, parsed.if_object()) + ": " + *difference);
    }
    ++count_.passed;
  }

  void Fail(const std::string& text) {
    if (++count_.failed <= options_.failures_shown_max) out_ << text << '\n';
  }

  const std::string& path_;
  const ConformanceOptions& options_;
  std::ostream& out_;
  ConformanceCount count_;
};

}  // namespace

ConformanceCount RunConformance(std::span<const std::string> files, const ConformanceOptions& options,
                                std::ostream& out) {
  const Silence silence;
  ConformanceCount total;
  for (const std::string& file : files) {
    const ConformanceCount count = FileRun(file, options, out).Run();
    total.passed += count.passed;
    total.failed += count.failed;
    total.undecided += count.undecided;
  }
  if (total.undecided > 0) out << total.undecided << " cases failed because they were not decided\n";
  out << total.passed << " passed, " << total.failed << " failed\n";
  return total;
}

}  // namespace berth::cli
