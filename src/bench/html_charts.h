#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Drawings for pages: SVG that is part of the page and takes its colours from it.
namespace berth::bench {

// One line of a chart: a value and the range that it was seen in.
struct Bar {
  std::string name;
  double value = 0;
  double least = 0;
  double most = 0;
};

// On a scale of powers of ten, since factors are what is compared. Bars begin at `origin`, and are drawn as
// losses below it; 0: at the least power of ten. Empty without bars.
std::string BarChart(std::span<const Bar> bars, double origin, std::string_view label);

// Pods per second over the time of one run.
struct RateCurve {
  std::string workload;  // as compared workloads are named
  std::size_t side = 0;
  std::vector<std::uint32_t> bound_per_tenth;
};

// The curves of this workload. Empty if it has none.
std::string CurveChart(std::span<const RateCurve> curves, std::string_view workload);

// What the drawings want from the style of their page.
std::string_view ChartStyle();

// With what has a meaning in HTML escaped.
std::string HtmlText(std::string_view text);

}  // namespace berth::bench
