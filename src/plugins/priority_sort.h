#pragma once

#include <string_view>

#include "framework/plugin.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::plugins {

// Pods of higher priority first; among equals the one that has waited longer.
class PrioritySort final : public framework::Plugin, public framework::QueueSortPoint {
 public:
  explicit PrioritySort(const framework::PluginSetup&) {}

  std::string_view Name() const override { return "PrioritySort"; }
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override;
};

}  // namespace berth::plugins
