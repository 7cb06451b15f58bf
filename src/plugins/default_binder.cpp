#include "plugins/default_binder.h"

#include <utility>

namespace berth::plugins {

base::Task<framework::Status> DefaultBinder::Bind(framework::BindingContext& context,
                                                  framework::Assignment& assignment) const {
  api::Binding binding;
  // With the uid, so that a pod of the same name that came meanwhile is not bound by mistake.
  binding.metadata.namespace_ = assignment.record->namespace_;
  binding.metadata.name = assignment.record->name;
  binding.metadata.uid = assignment.record->uid;
  binding.target.kind = "Node";
  binding.target.name = assignment.node_name;
  const base::Result<void> bound = co_await context.api.Bind(std::move(binding));
  if (!bound) co_return framework::Status::Error(bound.error().message);
  co_return framework::Status();
}

}  // namespace berth::plugins
