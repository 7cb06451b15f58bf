#include "cel/source.h"

#include <algorithm>

#include "fmt/format.h"

#include "cel/utf8.h"

namespace berth::cel {

Source::Source(std::string_view text) : text_(Decode(text)), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == U'\n') line_starts_.push_back(i + 1);
  }
}

std::string Source::Describe(std::vector<Issue> issues) const {
  // An issue without a place comes first, as line -1 would.
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& left, const Issue& right) { return left.offset + 1 < right.offset + 1; });
  std::string text;
  for (const Issue& issue : issues) {
    if (!text.empty()) text += '\n';
    text += Describe(issue);
  }
  return text;
}

std::string Source::Describe(const Issue& issue) const {
  if (issue.offset == kNowhere) return fmt::format("ERROR: <input>:-1:0: {}", issue.message);
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), std::size_t{issue.offset});
  const std::size_t line = static_cast<std::size_t>(next - line_starts_.begin());
  const std::size_t start = line_starts_[line - 1];
  const std::size_t end = line < line_starts_.size() ? line_starts_[line] - 1 : text_.size();
  // The end of an empty text has no column.
  const std::size_t column = text_.empty() ? 0 : issue.offset - start + 1;
  std::string snippet = Encode(std::u32string_view(text_).substr(start, end - start));
  std::replace(snippet.begin(), snippet.end(), '\t', ' ');
  return fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {:.<{}}^", line, column, issue.message, snippet, "",
                     column == 0 ? 0 : column - 1);
}

}  // namespace berth::cel
