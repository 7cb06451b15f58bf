#pragma once

#include "cycle/context.h"
#include "framework/binding_points.h"

namespace berth::cycle {

// How plugins write: through the dispatcher, so that one pod's calls merge and keep their order.
class DispatchedWriter final : public framework::ApiWriter {
 public:
  explicit DispatchedWriter(const CycleContext& context) : context_(context) {}

  base::Task<base::Result<void>> Bind(api::Binding binding) override;
  void Tell(const framework::Assignment& assignment, framework::PodNote note) override;

 private:
  CycleContext context_;
};

}  // namespace berth::cycle
