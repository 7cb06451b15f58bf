#include "bench/html_charts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace berth::bench {
namespace {

constexpr double kBarWidth = 460;
constexpr double kBarHeight = 22;
constexpr double kCurveWidth = 820;
constexpr double kCurveHeight = 180;
constexpr double kCurveLeft = 60;
// Of the font in which names are written, on average.
constexpr double kCharWidth = 6.6;
constexpr std::size_t kNameMax = 72;

// A factor has the same length everywhere.
class DecadeScale {
 public:
  DecadeScale(std::span<const Bar> bars, double origin, double left) : left_(left) {
    if (origin > 0) Include(origin);
    for (const Bar& bar : bars) {
      Include(bar.least);
      Include(bar.most);
    }
    if (most_ <= least_) most_ = least_ + 1;
  }

  double X(double value) const { return left_ + (std::log10(value) - least_) / (most_ - least_) * kBarWidth; }
  int first_decade() const { return static_cast<int>(least_); }
  int last_decade() const { return static_cast<int>(most_); }

 private:
  void Include(double value) {
    const double least = std::floor(std::log10(value));
    const double most = std::ceil(std::log10(value));
    least_ = is_empty_ ? least : std::min(least_, least);
    most_ = is_empty_ ? most : std::max(most_, most);
    is_empty_ = false;
  }

  const double left_;
  bool is_empty_ = true;
  double least_ = 0;
  double most_ = 0;
};

// A name that is too long loses its middle: both ends tell it from others.
std::string Shortened(const std::string& name) {
  if (name.size() <= kNameMax) return HtmlText(name);
  const std::size_t half = kNameMax / 2;
  return HtmlText(name.substr(0, half)) + "…" + HtmlText(name.substr(name.size() - half + 1));
}

double NamesWidth(std::span<const Bar> bars) {
  std::size_t longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, std::min(bar.name.size(), kNameMax));
  return static_cast<double>(longest) * kCharWidth + 16;
}

std::string NumberText(double value) {
  return fmt::format("{:.{}f}", value, value < 1 ? 2 : value < 1000 ? 1 : 0);
}

// Pods per second of so many tenths of a second each; of the last part what there is of it.
std::vector<double> RatesOf(const RateCurve& curve, std::size_t tenths) {
  std::vector<double> rates;
  const std::size_t size = curve.bound_per_tenth.size();
  for (std::size_t i = 0; i < size; i += tenths) {
    const std::size_t end = std::min(i + tenths, size);
    double sum = 0;
    for (std::size_t j = i; j < end; ++j) sum += curve.bound_per_tenth[j];
    rates.push_back(sum * 10 / static_cast<double>(end - i));
  }
  return rates;
}

}  // namespace

std::string_view ChartStyle() {
  return "svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}"
         ".a,.b{fill:none;stroke-width:1.5}.a{stroke:#0969da}.b{stroke:#cf222e;stroke-dasharray:5 2}"
         ".bar{fill:#0969da}.loss{fill:#cf222e}.spread{stroke:currentColor}.axis{stroke:#8c959f;opacity:.5}"
         "@media(prefers-color-scheme:dark){.a{stroke:#58a6ff}.b{stroke:#ff7b72}.bar{fill:#1f6feb}"
         ".loss{fill:#f85149}}";
}

std::string BarChart(std::span<const Bar> bars, double origin, std::string_view label) {
  if (bars.empty()) return {};
  const double left = NamesWidth(bars);
  const DecadeScale scale(bars, origin, left);
  const double start = origin > 0 ? origin : std::pow(10, scale.first_decade());
  std::string marks;
  double y = 24;
  for (const Bar& bar : bars) {
    const double from = std::min(scale.X(start), scale.X(bar.value));
    const double width = std::abs(scale.X(bar.value) - scale.X(start));
    const double middle = y + kBarHeight / 2;
    fmt::format_to(std::back_inserter(marks),
                   "<g><title>{}</title><text x='{:.0f}' y='{:.1f}' text-anchor='end'>{}</text>"
                   "<rect class='{}' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.0f}'/>"
                   "<line class='spread' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}'/>"
                   "<text x='{:.1f}' y='{:.1f}'>{}</text></g>\n",
                   HtmlText(bar.name), left - 8, middle + 4, Shortened(bar.name),
                   bar.value >= start ? "bar" : "loss", from, y + 3, width, kBarHeight - 6,
                   scale.X(bar.least), scale.X(bar.most), middle, middle,
                   scale.X(std::max(bar.most, start)) + 6, middle + 4, NumberText(bar.value));
    y += kBarHeight;
  }
  std::string grid;
  for (int decade = scale.first_decade(); decade <= scale.last_decade(); ++decade) {
    const double value = std::pow(10, decade);
    fmt::format_to(std::back_inserter(grid),
                   "<line class='axis' x1='{0:.1f}' x2='{0:.1f}' y1='18' y2='{1:.0f}'/>"
                   "<text x='{0:.1f}' y='12' text-anchor='middle'>{2:g}</text>",
                   scale.X(value), y, value);
  }
  return fmt::format("<svg viewBox='0 0 {:.0f} {:.0f}' role='img' aria-label='{}'>{}{}</svg>\n",
                     left + kBarWidth + 70, y + 8, HtmlText(label), grid, marks);
}

std::string CurveChart(std::span<const RateCurve> curves, std::string_view workload) {
  std::size_t tenths = 0;
  for (const RateCurve& curve : curves) {
    if (curve.workload == workload) tenths = std::max(tenths, curve.bound_per_tenth.size());
  }
  if (tenths == 0) return {};
  // A short run would be one dot by the half second.
  const std::size_t part = tenths > 20 ? 5 : 1;
  double most = 1;
  for (const RateCurve& curve : curves) {
    if (curve.workload != workload) continue;
    for (const double rate : RatesOf(curve, part)) most = std::max(most, rate);
  }
  const double bottom = kCurveHeight - 24;
  const auto x = [&](std::size_t tenth) {
    return kCurveLeft + static_cast<double>(std::min(tenth, tenths)) / static_cast<double>(tenths) *
                            (kCurveWidth - kCurveLeft - 10);
  };
  std::string lines;
  for (const RateCurve& curve : curves) {
    if (curve.workload != workload || curve.bound_per_tenth.empty()) continue;
    lines += fmt::format("<polyline class='{}' points='", curve.side == 0 ? "a" : "b");
    const std::vector<double> rates = RatesOf(curve, part);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double y = bottom - rates[i] / most * (kCurveHeight - 40);
      const std::size_t end = std::min((i + 1) * part, curve.bound_per_tenth.size());
      fmt::format_to(std::back_inserter(lines), "{:.1f},{:.1f} {:.1f},{:.1f} ", x(i * part), y, x(end), y);
    }
    lines += "'/>";
  }
  return fmt::format(
      "<svg viewBox='0 0 {0:.0f} {1:.0f}' role='img' aria-label='pods per second over time'>"
      "<line class='axis' x1='60' x2='{2:.0f}' y1='{3:.0f}' y2='{3:.0f}'/>"
      "<text x='54' y='20' text-anchor='end'>{4:.0f}/s</text><text x='54' y='{3:.0f}' "
      "text-anchor='end'>0</text>"
      "<text x='{2:.0f}' y='{1:.0f}' text-anchor='end' dy='-6'>{5:.1f} s</text>{6}</svg>\n",
      kCurveWidth, kCurveHeight, kCurveWidth - 10, bottom, most, static_cast<double>(tenths) / 10, lines);
}

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

}  // namespace berth::bench
