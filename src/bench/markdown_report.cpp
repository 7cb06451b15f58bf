#include "bench/markdown_report.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <vector>

namespace berth::bench {
namespace {

struct MarkdownColumn {
  const char* title;
  const char* metric;
  const char* bucket;
  const char* ratio;  // the title of its ratios; empty: they are left out
};
constexpr std::array kMarkdownColumns = {
    MarkdownColumn{"CPU us/pod", kProcessorTimeMetric, "PerPod", "times less"},
    MarkdownColumn{"attempts/pod", kAttemptsMetric, "PerPod", ""},
    MarkdownColumn{"pods/s", kExactThroughputMetric, "Average", ""},
    MarkdownColumn{"attempt p99, ms", kAttemptMetric, "Perc99", ""},
    MarkdownColumn{"peak MiB", kPeakMemoryMetric, "Max", "times less"},
};

std::string Grouped(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Three digits that say something.
std::string RoundedText(const ComparedRow* row, std::size_t side) {
  if (row == nullptr || row->values[side].empty()) return "–";
  const double value = Median(row->values[side]);
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return Grouped(fmt::format("{:.{}f}", value, decimals));
}

std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

std::string Line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::vector<std::string> HeadOf(const SideNames& names) {
  std::vector<std::string> head = {"workload"};
  for (const MarkdownColumn& column : kMarkdownColumns) {
    head.emplace_back(column.title);
    head.push_back(Cell(names[1]));
    if (*column.ratio != '\0') head.emplace_back(column.ratio);
  }
  return head;
}

// The middle of the ratios by factors, over all workloads that have one.
std::vector<std::string> MeansOf(std::span<const ComparedWorkload> workloads) {
  std::vector<std::string> means = {"geometric mean"};
  for (const MarkdownColumn& column : kMarkdownColumns) {
    means.insert(means.end(), {"", ""});
    if (*column.ratio == '\0') continue;
    const auto mean = MeanRatio(workloads, column.metric, column.bucket);
    means.push_back(mean ? FactorText(*mean) : "–");
  }
  return means;
}

bool IsInPath(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-@+~%").contains(c);
}

}  // namespace

std::string WithoutFolders(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    // A slash in the middle of a word is no absolute path, and two are the beginning of an address.
    const bool starts = text[i] == '/' && (i == 0 || (!IsInPath(text[i - 1]) && text[i - 1] != ':'));
    if (!starts) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && IsInPath(text[end])) ++end;
    const std::string_view path = text.substr(i, end - i);
    const std::size_t last = path.rfind('/');
    const std::size_t second = last == 0 ? 0 : path.rfind('/', last - 1);
    result += second == 0 ? path : fmt::format("...{}", path.substr(second));
    i = end;
  }
  return result;
}

std::string ComparisonMarkdown(const ComparisonPage& page) {
  std::string text;
  if (!page.command.empty()) text += fmt::format("`{}`\n\n", WithoutFolders(page.command));
  for (const auto& [term, about] : page.conditions) {
    fmt::format_to(std::back_inserter(text), "{}{}: {}", text.empty() || text.ends_with('\n') ? "" : "; ",
                   term, WithoutFolders(about));
  }
  if (!page.conditions.empty()) text += ".\n\n";
  const std::vector<std::string> head = HeadOf(page.names);
  text +=
      Line(head) + "|" + fmt::format("{}|\n", fmt::join(std::vector<std::string>(head.size(), "---"), "|"));
  const std::vector<std::string> names = ShortNames(page.workloads);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> cells = {Cell(names[i])};
    for (const MarkdownColumn& column : kMarkdownColumns) {
      const ComparedRow* const row = page.workloads[i].Find(column.metric, column.bucket);
      cells.push_back(RoundedText(row, 0));
      cells.push_back(RoundedText(row, 1));
      if (*column.ratio == '\0') continue;
      const auto ratio = row != nullptr ? row->RatioOfPairs() : std::nullopt;
      cells.push_back(ratio ? RatioText(*ratio) : "–");
    }
    text += Line(cells);
  }
  if (names.size() > 1) text += Line(MeansOf(page.workloads));
  if (!page.notes.empty()) text += "\n";
  for (const std::string& note : page.notes) text += fmt::format("- {}\n", Cell(WithoutFolders(note)));
  return text;
}

}  // namespace berth::bench
