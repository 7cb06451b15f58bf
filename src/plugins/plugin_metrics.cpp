#include "plugins/plugin_metrics.h"

#include <array>
#include <chrono>
#include <cstddef>

namespace berth::plugins {
namespace {

constexpr std::array<std::string_view, 3> kStages = {"predicate", "assume", "bind"};
constexpr std::array<std::string_view, 4> kWaits = {"success", "failure", "timeout", "error"};

std::string_view WaitName(DeviceWait wait) { return kWaits[static_cast<std::size_t>(wait)]; }

}  // namespace

void PluginMetrics::Show(base::MetricRegistry& registry) {
  volume_errors_ = &registry.AddCounters({.name = "scheduler_volume_scheduling_stage_error_total",
                                          .help = "Volume scheduling stage error count",
                                          .labels = {"operation"}});
  // Nobody counts it, upstream neither: it is there for whoever lists the metrics.
  registry.AddCounters({.name = "scheduler_volume_binder_cache_requests_total",
                        .help = "Total number for request volume binding cache",
                        .labels = {"operation"}});
  claims_created_ =
      &registry.AddCounters({.name = "dynamic_resource_allocation_resourceclaim_creates_total",
                             .help = "Number of ResourceClaims creation requests, categorized by creation "
                                     "status, admin access and owner",
                             .labels = {"status", "admin_access", "owner_api_group", "owner_api_kind"}});
  conditioned_ = &registry.AddCounters({.name = "scheduler_dra_bindingconditions_allocations_total",
                                        .help = "Number of allocations of devices with binding conditions",
                                        .labels = {"profile", "driver", "status"}});
  device_waits_ =
      &registry.AddHistograms({.name = "scheduler_dra_bindingconditions_wait_duration_seconds",
                               .help = "Time spent waiting for the binding conditions of allocated devices",
                               .labels = {"profile", "driver", "status"},
                               .buckets = base::ExponentialBuckets(0.1, 2, 14)});
}

void PluginMetrics::CountVolumeError(VolumeStage stage) {
  if (volume_errors_ == nullptr) return;
  volume_errors_->With({kStages[static_cast<std::size_t>(stage)]})->Increment();
}

void PluginMetrics::CountClaimCreated(bool succeeded) {
  if (claims_created_ == nullptr) return;
  claims_created_->With({succeeded ? "success" : "failure", "false", "", "Pod"})->Increment();
}

void PluginMetrics::ObserveDeviceWait(const Wait& wait, base::Duration duration) {
  if (device_waits_ == nullptr) return;
  device_waits_->With({wait.profile, wait.driver, WaitName(wait.result)})
      ->Observe(std::chrono::duration<double>(duration).count());
}

void PluginMetrics::CountConditionedAllocation(const Wait& wait) {
  if (conditioned_ == nullptr) return;
  conditioned_->With({wait.profile, wait.driver, WaitName(wait.result)})->Increment();
}

}  // namespace berth::plugins
