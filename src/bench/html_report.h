#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare.h"
#include "bench/html_charts.h"

namespace berth::bench {

struct ComparisonPage {
  // The second is empty on a page about one scheduler.
  SideNames names;
  std::string command = {};  // what was typed to get this; empty: nobody says
  // How, where and when this was measured: a term and what is said about it.
  std::vector<std::pair<std::string, std::string>> conditions;
  std::span<const ComparedWorkload> workloads;
  std::span<const RateCurve> curves = {};
  std::span<const std::string> notes = {};  // what failed, what did not run

  bool is_of_one() const { return names[1].empty(); }
};

// One file with everything in it: opens without a network, prints, and needs no scripts.
std::string ComparisonHtml(const ComparisonPage& page);

}  // namespace berth::bench
