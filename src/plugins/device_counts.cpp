#include "plugins/device_counts.h"

#include <vector>

namespace berth::plugins {

const DeviceCounts::Count& DeviceCounts::At(cluster::NodeRow row) const {
  const auto [entry, is_new] = counts_.try_emplace(row);
  if (is_new) entry->second = CountAt(row);
  return entry->second;
}

DeviceCounts::Count DeviceCounts::CountAt(cluster::NodeRow row) const {
  const auto device_class = state_.FindClass(device_class_);
  if (device_class == nullptr) return {};
  std::vector<dra::SelectorId> selectors;
  for (const api::DeviceSelector& selector : device_class->spec.selectors) {
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
  state_.pools().ForEachSlice([&](const dra::SliceRecord& slice) {
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
