#pragma once

#include <string_view>

#include "framework/binding_points.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace berth::plugins {

// Binds a pod through the API server's binding subresource.
class DefaultBinder final : public framework::Plugin, public framework::BindPoint {
 public:
  explicit DefaultBinder(const framework::PluginSetup&) {}

  std::string_view Name() const override { return "DefaultBinder"; }
  base::Task<framework::Status> Bind(framework::BindingContext& context,
                                     framework::Assignment& assignment) const override;
};

}  // namespace berth::plugins
