#include "bench/label_filter.h"

#include <algorithm>

#include "sandbox/text_parts.h"

namespace berth::bench {

LabelFilter::LabelFilter(std::string_view text) {
  for (const std::string_view item : sandbox::SplitText(text, ',')) {
    if (item.starts_with('-')) {
      unwanted_.emplace_back(item.substr(1));
    } else {
      wanted_.emplace_back(item.starts_with('+') ? item.substr(1) : item);
    }
  }
}

bool LabelFilter::Accepts(const std::vector<std::string>& labels) const {
  const auto has = [&](const std::string& label) { return std::ranges::find(labels, label) != labels.end(); };
  return std::ranges::all_of(wanted_, has) && std::ranges::none_of(unwanted_, has);
}

}  // namespace berth::bench
