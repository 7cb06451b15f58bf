#include "cel/regex.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "re2/re2.h"

#include "cel/utf8.h"

namespace berth::cel {
namespace {

constexpr std::int64_t kMemoryMax = std::int64_t{64} << 20;

// Where Go's syntax and that of this RE2 part: named groups may be written without the P, and \C (a byte)
// does not exist. Nothing if the pattern has a \C.
std::optional<std::string> Translate(std::string_view pattern) {
  std::string translated;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '\\') {
      if (next == 'C' && !in_class) return std::nullopt;
      if (next == 'Q') {
        const std::size_t end = std::min(pattern.find("\\E", i), pattern.size());
        translated += pattern.substr(i, end - i);
        i = end - 1;
        continue;
      }
      translated += c;
      if (next != '\0') translated += next;
      ++i;
    } else if (in_class) {
      translated += c;
      // "[]a]" and "[^]a]" start with a bracket that is a member; it is copied below.
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      translated += c;
      if (next == '^') translated += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') translated += pattern[++i];
    } else if (pattern.substr(i).starts_with("(?<") && !pattern.substr(i + 3).starts_with('=') &&
               !pattern.substr(i + 3).starts_with('!')) {
      translated += "(?P<";
      i += 2;
    } else {
      translated += c;
    }
  }
  return translated;
}

std::string_view GoText(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case re2::RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

}  // namespace

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::~Regex() = default;

base::Result<std::shared_ptr<const Regex>> Regex::Compile(std::string_view pattern) {
  const auto translated = Translate(pattern);
  if (!translated) return base::Fail("error parsing regexp: invalid escape sequence: `\\C`");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemoryMax);
  auto compiled = std::make_unique<re2::RE2>(*translated, options);
  if (!compiled->ok()) {
    return base::Fail(
        fmt::format("error parsing regexp: {}: `{}`", GoText(compiled->error_code()), compiled->error_arg()));
  }
  return std::shared_ptr<const Regex>(new Regex(std::move(compiled)));
}

bool Regex::Matches(std::string_view text) const {
  return compiled_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED,
                          nullptr, 0);
}

std::string Regex::Find(std::string_view text) const {
  re2::StringPiece match;
  const re2::StringPiece whole(text.data(), text.size());
  if (!compiled_->Match(whole, 0, text.size(), re2::RE2::UNANCHORED, &match, 1)) return "";
  return std::string(match.data(), match.size());
}

List Regex::FindAll(std::string_view text, std::int64_t count) const {
  List matches;
  const re2::StringPiece whole(text.data(), text.size());
  std::size_t position = 0;
  std::optional<std::size_t> previous_end;
  while (position <= text.size() && (count < 0 || std::cmp_less(matches.size(), count))) {
    re2::StringPiece match;
    if (!compiled_->Match(whole, position, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const auto start = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = start + match.size();
    // An empty match right after another match does not count.
    const bool counts = !match.empty() || previous_end != start;
    if (counts) matches.push_back(Value::String(std::string(text.substr(start, match.size()))));
    if (end > position) {
      position = end;
    } else {
      position = end + (end < text.size() ? DecodeFirst(text.substr(end)).length : 1);
    }
    previous_end = end;
  }
  return matches;
}

}  // namespace berth::cel
