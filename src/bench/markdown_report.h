#pragma once

#include <string>
#include <string_view>

#include "bench/html_report.h"

namespace berth::bench {

// The page as a table for a document: how it was measured, a line per workload, and what is not in it. What
// it says is what the command printed, so nothing is to be typed in.
std::string ComparisonMarkdown(const ComparisonPage& page);

// With absolute paths cut down to their last two parts: where things lie on one machine is no news to others.
std::string WithoutFolders(std::string_view text);

}  // namespace berth::bench
