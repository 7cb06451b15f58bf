#include "framework/plan.h"

#include <algorithm>
#include <cstring>

namespace berth::framework {

void Scope::AddText(std::string_view text) {
  Add(text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(text.size(), sizeof(word));
    std::memcpy(&word, text.data(), count);
    Add(word);
    text.remove_prefix(count);
  }
}

void ChangedRows::Reset(std::size_t row_count) {
  // Only what was set: a warm attempt changes a handful of rows of many.
  for (const cluster::NodeRow row : rows_) seen_.Clear(row.index());
  rows_.clear();
  all_ = false;
  if (row_count > seen_.size()) seen_.Resize(row_count);
}

}  // namespace berth::framework
