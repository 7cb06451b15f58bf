#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "cluster/extension.h"

namespace berth::cluster {
class Cluster;
}

namespace berth::plugins {

enum class VolumeStage : std::uint8_t { kPredicate, kAssume, kBind };
// How the wait for devices that have to be made ready ended.
enum class DeviceWait : std::uint8_t { kSuccess, kFailure, kTimeout, kError };

// What volume and device plugins count. The plugins of all profiles share one:
// cluster.UseExtension<PluginMetrics>(). Until Show() nothing is counted, as in a comparison with recorded
// cases.
class PluginMetrics final : public cluster::Extension {
 public:
  explicit PluginMetrics(cluster::Cluster&) {}

  // At most once. Names in the registry must be free, and it outlives this object.
  void Show(base::MetricRegistry& registry);

  // A stage ended in an error; a node that is refused is none.
  void CountVolumeError(VolumeStage stage);
  // A claim was made for extended resources, or could not be.
  void CountClaimCreated(bool succeeded);
  struct Wait {
    std::string_view profile;
    std::string_view driver;
    DeviceWait result;
  };
  // Of one allocated device of the pod.
  void ObserveDeviceWait(const Wait& wait, base::Duration duration);
  // Of one device that had to be made ready.
  void CountConditionedAllocation(const Wait& wait);

  // It follows neither pods nor nodes.
  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnNodeChanged(cluster::NodeRow, cluster::Facts) override {}
  void AddTo(cluster::Digester&) const override {}

 private:
  base::CounterFamily* volume_errors_ = nullptr;
  base::CounterFamily* claims_created_ = nullptr;
  base::CounterFamily* conditioned_ = nullptr;
  base::HistogramFamily* device_waits_ = nullptr;
};

}  // namespace berth::plugins
