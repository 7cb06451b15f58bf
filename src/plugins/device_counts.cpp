#include "plugins/device_counts.h"

#include <algorithm>
#include <vector>

namespace berth::plugins {
namespace {

// Arguments may name as many resources as they like, whose classes come and go.
constexpr std::size_t kClassesMax = 64;

}  // namespace

void DeviceCounts::Refresh() {
  const dra::DeviceState::Version now = state_.version();
  std::shared_ptr<const api::DeviceClass> device_class = state_.FindClass(device_class_name_);
  const auto forget = [&](cluster::NodeRow row) {
    if (row.index() < counts_.size()) counts_[row.index()].is_known = false;
  };
  const bool is_same = device_class == device_class_ && state_.RowsSince(version_, forget);
  if (!is_same) counts_.clear();
  counts_.resize(state_.cluster().nodes().row_count());
  device_class_ = std::move(device_class);
  version_ = now;
}

const DeviceCounts::Count& DeviceCounts::At(cluster::NodeRow row) const {
  Known& known = counts_[row.index()];
  if (!known.is_known) known = {.is_known = true, .count = CountAt(row)};
  return known.count;
}

const DeviceCounts& DeviceCountsTable::Of(std::string_view device_class) {
  const auto found = std::ranges::find_if(
      counts_, [&](const auto& counts) { return counts->device_class_name() == device_class; });
  DeviceCounts* counts = nullptr;
  if (found != counts_.end()) {
    counts = found->get();
  } else {
    if (counts_.size() == kClassesMax) counts_.erase(counts_.begin());
    counts = counts_.emplace_back(std::make_unique<DeviceCounts>(state_, std::string(device_class))).get();
  }
  counts->Refresh();
  return *counts;
}

DeviceCounts::Count DeviceCounts::CountAt(cluster::NodeRow row) const {
  if (device_class_ == nullptr) return {};
  std::vector<dra::SelectorId> selectors;
  for (const api::DeviceSelector& selector : device_class_->spec.selectors) {
    selectors.push_back(state_.selectors().Use(selector.cel ? selector.cel->expression : ""));
    if (state_.selectors().compile_error(selectors.back())) return {};
  }
  const cluster::Cluster& cluster = state_.cluster();
  const std::string_view node = cluster.nodes().name(row);
  const auto labels = cluster.labels().View(cluster.nodes().label_set()[row.index()]);
  Count count;
  bool has_failed = false;
  const auto covers = [&](const dra::NodeChoice& choice) {
    const base::Result<bool> covered = choice.Covers(node, labels);
    has_failed = has_failed || !covered;
    return covered.value_or(false);
  };
  const auto matches = [&](dra::ShapeId shape) {
    for (const dra::SelectorId selector : selectors) {
      const dra::Match match = state_.selectors().Evaluate(selector, shape);
      has_failed = has_failed || match == dra::Match::kError;
      if (match != dra::Match::kYes) return false;
    }
    return true;
  };
  // With this row's pools made, whatever becomes of them is told.
  static_cast<void>(state_.pools().Of(row));
  state_.pools().ForEachSliceOn(row, [&](const dra::SliceRecord& slice) {
    if (has_failed || (!slice.per_device_nodes && !covers(slice.nodes))) return;
    for (std::size_t i = 0; i < slice.ids.size(); ++i) {
      if (slice.per_device_nodes && !covers(slice.device_nodes[i])) continue;
      if (!matches(slice.shapes[i])) continue;
      ++count.total;
      if (state_.devices().use(slice.ids[i]).IsUsed()) ++count.used;
    }
  });
  return has_failed ? Count() : count;
}

}  // namespace berth::plugins
