#include "sandbox/namespace_sweeper.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

constexpr base::Duration kSweepAgain = std::chrono::milliseconds(500);

}  // namespace

NamespaceSweeper::NamespaceSweeper(ControlPlane& plane)
    : plane_(plane),
      namespaces_(ResourceOf("v1", "Namespace")),
      subscription_(plane.store().Subscribe(Selection(namespaces_), *this)) {
  plane_.writer().ForEach(namespaces_, [&](const RevisionPtr& found) {
    if (found->is_terminating()) SweepAfter(std::string(found->name()), base::Duration(0));
  });
}

NamespaceSweeper::~NamespaceSweeper() {
  plane_.store().Unsubscribe(subscription_);
  for (const auto& [name, timer] : due_) plane_.timers().Cancel(timer);
}

void NamespaceSweeper::OnChange(const Change& change, ChangeFrames&) {
  const bool is_terminating = change.object->field(0) == "Terminating";
  if (change.type == wire::WatchType::kDeleted || !is_terminating) return;
  SweepAfter(std::string(change.object->name()), base::Duration(0));
}

void NamespaceSweeper::SweepAfter(const std::string& name, base::Duration delay) {
  base::TimerQueue::TimerId& timer = due_[name];
  plane_.timers().Cancel(timer);
  timer = plane_.timers().Schedule(plane_.clock().Now() + delay, [this, name] { Sweep(name); });
}

void NamespaceSweeper::Sweep(const std::string& name) {
  due_.erase(name);
  bool is_empty = true;
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (!resource.namespaced || resource.create_only || resource.storage != &resource) continue;
    const ApiResult<Selection> selection = Selection::Make(resource, {.namespace_name = name});
    const std::expected<Store::Page, TooOld> page = plane_.store().List(*selection);
    for (const RevisionPtr& object : page->items) {
      const Target target{.resource = &resource, .namespace_name = name, .name = std::string(object->name())};
      const ApiResult<Removal> removed =
          plane_.writer().Delete(target, {.propagation = Propagation::kBackground});
      is_empty = is_empty && removed && removed->gone;
    }
  }
  if (!is_empty) {
    SweepAfter(name, kSweepAgain);
    return;
  }
  // Without the finalizer nothing holds the namespace any more.
  static_cast<void>(
      plane_.writer().Change({.resource = &namespaces_, .name = name, .subresource = "finalize"},
                             [](const boost::json::object& current) -> ApiResult<boost::json::object> {
                               boost::json::object released = current;
                               RemoveAt(released, {"spec", "finalizers"});
                               return released;
                             }));
}

}  // namespace berth::sandbox
