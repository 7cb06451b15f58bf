#include "framework/plan.h"

namespace berth::framework {

void ChangedRows::Reset(std::size_t row_count) {
  // Only what was set: a warm attempt changes a handful of rows of many.
  for (const cluster::NodeRow row : rows_) seen_.Clear(row.index());
  rows_.clear();
  all_ = false;
  if (row_count > seen_.size()) seen_.Resize(row_count);
}

}  // namespace berth::framework
