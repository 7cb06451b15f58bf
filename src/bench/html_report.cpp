#include "bench/html_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace berth::bench {
namespace {

constexpr const char* kPageStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}h1,h2,h3{line-height:1.2;overflow-wrap:anywhere}dl{display:grid;grid-template-columns:"
    "max-content 1fr;gap:.2rem "
    "1rem}dt{color:#57606a}dd{margin:0;overflow-wrap:anywhere}table{border-collapse:"
    "collapse;font-variant-numeric:tabular-nums}th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px "
    "solid #d0d7de}th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}.key{display:"
    "inline-block;width:1.5em;height:0;border-top:3px solid "
    "#0969da;vertical-align:middle}.key.peer{border-top:"
    "3px dashed #cf222e}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}"
    "dt{color:#8b949e}.key{border-color:#58a6ff}.key.peer{border-color:#ff7b72}}";

std::vector<Bar> RatioBars(std::span<const ComparedWorkload> workloads, const char* metric,
                           const char* bucket) {
  std::vector<Bar> bars;
  const std::vector<std::string> names = ShortNames(workloads);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ComparedRow* const row = workloads[i].Find(metric, bucket);
    const auto ratio = row != nullptr ? row->RatioOfPairs() : std::nullopt;
    if (ratio) bars.push_back({names[i], ratio->median, ratio->least, ratio->most});
  }
  return bars;
}

// Of the first side.
std::vector<Bar> ValueBars(std::span<const ComparedWorkload> workloads, const char* metric,
                           const char* bucket) {
  std::vector<Bar> bars;
  const std::vector<std::string> names = ShortNames(workloads);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ComparedRow* const row = workloads[i].Find(metric, bucket);
    if (row == nullptr || row->values[0].empty()) continue;
    const auto [least, most] = std::ranges::minmax(row->values[0]);
    if (least > 0) bars.push_back({names[i], Median(row->values[0]), least, most});
  }
  return bars;
}

std::string Chart(std::string_view title, const std::vector<Bar>& bars, double origin) {
  if (bars.empty()) return {};
  return fmt::format("<h2>{}</h2>\n{}", HtmlText(title), BarChart(bars, origin, title));
}

std::string Charts(const ComparisonPage& page) {
  if (page.is_of_one()) {
    return Chart("Processor time per pod, us", ValueBars(page.workloads, kProcessorTimeMetric, "PerPod"), 0) +
           Chart("Pods per second", ValueBars(page.workloads, kExactThroughputMetric, "Average"), 0) +
           Chart("Peak memory, MiB", ValueBars(page.workloads, kPeakMemoryMetric, "Max"), 0) +
           "<p>A bar is the median of the runs, the thin line their range.</p>\n";
  }
  const std::string& name = page.names[0];
  return Chart(fmt::format("Processor time per pod: how many times less {} uses", name),
               RatioBars(page.workloads, kProcessorTimeMetric, "PerPod"), 1) +
         Chart(fmt::format("Pods per second: how many times more {} binds", name),
               RatioBars(page.workloads, kExactThroughputMetric, "Average"), 1) +
         Chart(fmt::format("Peak memory: how many times less {} has", name),
               RatioBars(page.workloads, kPeakMemoryMetric, "Max"), 1) +
         "<p>A bar is the median of the ratios of pairs of runs, the thin line its range; red is a "
         "loss.</p>\n";
}

std::string MedianCell(const ComparedRow& row, std::size_t side) {
  return row.values[side].empty() ? "<td>-</td>" : fmt::format("<td>{:.2f}</td>", Median(row.values[side]));
}

// What all runs of one scheduler came to.
std::string RunsTable(const ComparedWorkload& workload) {
  std::string text =
      "<div class='wide'><table><tr><th></th><th>median</th><th>least</th><th>most</th><th>runs</th></tr>\n";
  for (const ComparedRow& row : workload.rows) {
    const auto [least, most] = std::ranges::minmax(row.values[0]);
    fmt::format_to(std::back_inserter(text),
                   "<tr><td>{}</td>{}<td>{:.2f}</td><td>{:.2f}</td><td>{}</td></tr>\n",
                   HtmlText(row.quantity->title), MedianCell(row, 0), least, most, row.values[0].size());
  }
  return text + "</table></div>\n";
}

std::string PairsTable(const SideNames& names, const ComparedWorkload& workload) {
  std::string text = fmt::format(
      "<div class='wide'><table><tr><th></th><th>{}</th><th>{}</th><th>times better</th><th>least</th>"
      "<th>most</th><th>pairs</th></tr>\n",
      HtmlText(names[0]), HtmlText(names[1]));
  for (const ComparedRow& row : workload.rows) {
    fmt::format_to(std::back_inserter(text), "<tr><td>{}</td>{}{}", HtmlText(row.quantity->title),
                   MedianCell(row, 0), MedianCell(row, 1));
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

std::string WorkloadPart(const ComparisonPage& page, const ComparedWorkload& workload) {
  std::string text = fmt::format("<h3>{}</h3>\n{}", HtmlText(workload.name),
                                 page.is_of_one() ? RunsTable(workload) : PairsTable(page.names, workload));
  const std::string curves = CurveChart(page.curves, workload.name);
  if (curves.empty()) return text;
  text += fmt::format("<p>Pods per second: <span class='key'></span> {}", HtmlText(page.names[0]));
  if (!page.is_of_one()) text += fmt::format(", <span class='key peer'></span> {}", HtmlText(page.names[1]));
  return text + "</p>\n" + curves;
}

}  // namespace

std::string ComparisonHtml(const ComparisonPage& page) {
  const std::string title =
      HtmlText(page.is_of_one() ? page.names[0] : page.names[0] + " and " + page.names[1]);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><meta name='color-scheme' content='light dark'><title>{0}</title>"
      "<style>{1}{2}</style></head><body><h1>{0}</h1>\n<dl>",
      title, kPageStyle, ChartStyle());
  if (!page.command.empty()) text += "<dt>command</dt><dd><code>" + HtmlText(page.command) + "</code></dd>";
  for (const auto& [term, about] : page.conditions) {
    fmt::format_to(std::back_inserter(text), "<dt>{}</dt><dd>{}</dd>", HtmlText(term), HtmlText(about));
  }
  text += "</dl>\n";
  if (!page.workloads.empty()) text += Charts(page);
  for (const ComparedWorkload& workload : page.workloads) text += WorkloadPart(page, workload);
  if (!page.notes.empty()) {
    text += page.is_of_one() ? "<h2>Did not run or failed</h2>\n<ul>" : "<h2>Not compared</h2>\n<ul>";
    for (const std::string& note : page.notes) text += "<li>" + HtmlText(note) + "</li>\n";
    text += "</ul>\n";
  }
  return text + "</body></html>\n";
}

}  // namespace berth::bench
