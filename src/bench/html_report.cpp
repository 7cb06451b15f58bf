#include "bench/html_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace berth::bench {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}h1,h2,h3{line-height:1.2}dl{display:grid;grid-template-columns:max-content "
    "1fr;gap:.2rem "
    "1rem}dt{color:#57606a}dd{margin:0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #d0d7de}th:first-child,"
    "td:first-child{text-align:left}.wide{overflow-x:auto}svg{max-width:100%;height:auto}svg "
    "text{font:12px system-ui,sans-serif;fill:currentColor}.a{stroke:#0969da;fill:none}.b{stroke:#cf222e;"
    "fill:none}.bar{fill:#0969da}.loss{fill:#cf222e}.spread{stroke:currentColor}.axis{stroke:#8c959f}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}"
    "dt{color:#8b949e}}";

constexpr double kBarLeft = 380;
constexpr double kBarWidth = 460;
constexpr double kBarHeight = 22;
constexpr double kCurveWidth = 820;
constexpr double kCurveHeight = 180;

// Ratios are compared by factors, so a factor has the same length everywhere.
class RatioScale {
 public:
  explicit RatioScale(std::span<const ComparedWorkload> workloads, const char* metric, const char* bucket) {
    for (const ComparedWorkload& workload : workloads) {
      const ComparedRow* const row = workload.Find(metric, bucket);
      if (row == nullptr) continue;
      if (const auto ratio = row->RatioOfPairs()) {
        least_ = std::min(least_, std::floor(std::log10(ratio->least)));
        most_ = std::max(most_, std::ceil(std::log10(ratio->most)));
      }
    }
  }

  double X(double ratio) const {
    return kBarLeft + (std::log10(ratio) - least_) / (most_ - least_) * kBarWidth;
  }
  int first_decade() const { return static_cast<int>(least_); }
  int last_decade() const { return static_cast<int>(most_); }

 private:
  double least_ = 0;
  double most_ = 1;
};

std::string RatioChart(std::span<const ComparedWorkload> workloads, const char* metric, const char* bucket) {
  const RatioScale scale(workloads, metric, bucket);
  std::string marks;
  double y = 24;
  for (const ComparedWorkload& workload : workloads) {
    const ComparedRow* const row = workload.Find(metric, bucket);
    const Ratio ratio = row != nullptr ? row->RatioOfPairs().value_or(Ratio()) : Ratio();
    if (ratio.pairs == 0) continue;
    const double from = std::min(scale.X(1), scale.X(ratio.median));
    const double width = std::abs(scale.X(ratio.median) - scale.X(1));
    const double middle = y + kBarHeight / 2;
    fmt::format_to(std::back_inserter(marks),
                   "<text x='{:.0f}' y='{:.1f}' text-anchor='end'>{}</text>"
                   "<rect class='{}' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.0f}'/>"
                   "<line class='spread' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}'/>"
                   "<text x='{:.1f}' y='{:.1f}'>{:.1f}</text>\n",
                   kBarLeft - 8, middle + 4, HtmlText(workload.name), ratio.median >= 1 ? "bar" : "loss",
                   from, y + 3, width, kBarHeight - 6, scale.X(ratio.least), scale.X(ratio.most), middle,
                   middle, scale.X(std::max(ratio.most, 1.0)) + 6, middle + 4, ratio.median);
    y += kBarHeight;
  }
  std::string grid;
  for (int decade = scale.first_decade(); decade <= scale.last_decade(); ++decade) {
    const double ratio = std::pow(10, decade);
    fmt::format_to(std::back_inserter(grid),
                   "<line class='axis' x1='{0:.1f}' x2='{0:.1f}' y1='18' y2='{1:.0f}'/>"
                   "<text x='{0:.1f}' y='12' text-anchor='middle'>{2:g}</text>",
                   scale.X(ratio), y, ratio);
  }
  return fmt::format(
      "<svg viewBox='0 0 {:.0f} {:.0f}' role='img' aria-label='ratio per workload'>{}{}</svg>\n",
      kBarLeft + kBarWidth + 70, y + 8, grid, marks);
}

// Pods per second of each half second.
std::vector<double> RatesOf(const RateCurve& curve) {
  constexpr std::size_t kTenths = 5;
  std::vector<double> rates;
  for (std::size_t i = 0; i < curve.bound_per_tenth.size(); i += kTenths) {
    double sum = 0;
    for (std::size_t j = i; j < std::min(i + kTenths, curve.bound_per_tenth.size()); ++j) {
      sum += curve.bound_per_tenth[j];
    }
    rates.push_back(sum * 10 / kTenths);
  }
  return rates;
}

std::string CurveChart(std::span<const RateCurve> curves, const std::string& workload) {
  double most = 1;
  std::size_t longest = 1;
  for (const RateCurve& curve : curves) {
    if (curve.workload != workload) continue;
    const std::vector<double> rates = RatesOf(curve);
    longest = std::max(longest, rates.size());
    for (const double rate : rates) most = std::max(most, rate);
  }
  std::string lines;
  for (const RateCurve& curve : curves) {
    if (curve.workload != workload) continue;
    lines += fmt::format("<polyline class='{}' points='", curve.side == 0 ? "a" : "b");
    const std::vector<double> rates = RatesOf(curve);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double x = 60 + static_cast<double>(i) / static_cast<double>(longest) * (kCurveWidth - 70);
      fmt::format_to(std::back_inserter(lines), "{:.1f},{:.1f} ", x,
                     kCurveHeight - 24 - rates[i] / most * (kCurveHeight - 40));
    }
    lines += "'/>";
  }
  return fmt::format(
      "<svg viewBox='0 0 {0:.0f} {1:.0f}' role='img' aria-label='pods per second over time'>"
      "<line class='axis' x1='60' x2='{2:.0f}' y1='{3:.0f}' y2='{3:.0f}'/>"
      "<text x='54' y='20' text-anchor='end'>{4:.0f}/s</text><text x='54' y='{3:.0f}' "
      "text-anchor='end'>0</text>"
      "<text x='{2:.0f}' y='{1:.0f}' text-anchor='end' dy='-6'>{5:.1f} s</text>{6}</svg>\n",
      kCurveWidth, kCurveHeight, kCurveWidth - 10, kCurveHeight - 24, most, static_cast<double>(longest) / 2,
      lines);
}

std::string RowsTable(const SideNames& names, const ComparedWorkload& workload) {
  std::string text = fmt::format(
      "<div class='wide'><table><tr><th></th><th>{}</th><th>{}</th><th>times better</th><th>least</th>"
      "<th>most</th><th>pairs</th></tr>\n",
      HtmlText(names[0]), HtmlText(names[1]));
  for (const ComparedRow& row : workload.rows) {
    const auto median = [&](std::size_t side) {
      return row.values[side].empty() ? std::string("-") : fmt::format("{:.2f}", Median(row.values[side]));
    };
    fmt::format_to(std::back_inserter(text), "<tr><td>{}</td><td>{}</td><td>{}</td>",
                   HtmlText(row.quantity->title), median(0), median(1));
    if (const auto ratio = row.RatioOfPairs()) {
      fmt::format_to(std::back_inserter(text),
                     "<td>{:.2f}</td><td>{:.2f}</td><td>{:.2f}</td><td>{}</td></tr>\n", ratio->median,
                     ratio->least, ratio->most, ratio->pairs);
    } else {
      text += "<td>-</td><td></td><td></td><td>0</td></tr>\n";
    }
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string ComparisonHtml(const ComparisonPage& page) {
  const std::string title = HtmlText(page.names[0] + " and " + page.names[1]);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>{0}</title><style>{1}</style></head><body><h1>{0}</h1>\n<dl>",
      title, kStyle);
  for (const auto& [term, about] : page.conditions) {
    fmt::format_to(std::back_inserter(text), "<dt>{}</dt><dd>{}</dd>", HtmlText(term), HtmlText(about));
  }
  fmt::format_to(std::back_inserter(text),
                 "</dl>\n<h2>Processor time per pod: how many times less {0} uses</h2>\n{1}"
                 "<h2>Pods per second: how many times more {0} binds</h2>\n{2}"
                 "<h2>Peak memory: how many times less {0} has</h2>\n{3}",
                 HtmlText(page.names[0]), RatioChart(page.workloads, kProcessorTimeMetric, "PerPod"),
                 RatioChart(page.workloads, kExactThroughputMetric, "Average"),
                 RatioChart(page.workloads, kPeakMemoryMetric, "Max"));
  text += "<p>A bar is the median of the ratios of pairs of runs, the thin line its range.</p>\n";
  for (const ComparedWorkload& workload : page.workloads) {
    fmt::format_to(std::back_inserter(text), "<h3>{}</h3>\n{}", HtmlText(workload.name),
                   RowsTable(page.names, workload));
    const auto same = [&](const RateCurve& curve) { return curve.workload == workload.name; };
    if (std::ranges::none_of(page.curves, same)) continue;
    fmt::format_to(std::back_inserter(text), "<p>Pods per second: {} blue, {} red.</p>\n{}",
                   HtmlText(page.names[0]), HtmlText(page.names[1]), CurveChart(page.curves, workload.name));
  }
  if (!page.notes.empty()) text += "<h2>Not compared</h2>\n<ul>";
  for (const std::string& note : page.notes) text += "<li>" + HtmlText(note) + "</li>\n";
  if (!page.notes.empty()) text += "</ul>\n";
  return text + "</body></html>\n";
}

}  // namespace berth::bench
