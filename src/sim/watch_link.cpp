#include "sim/watch_link.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "shell/watched_objects.h"

namespace berth::sim {

sandbox::Selection SelectionOf(client::Resource resource) {
  const client::ResourceInfo& info = client::InfoOf(resource);
  const sandbox::Resource* served = sandbox::ResourceTable::Get().Find(info.group, info.version, info.plural);
  BERTH_CHECK(served != nullptr);
  auto selection = sandbox::Selection::Make(*served, {.field_selector = info.field_selector});
  BERTH_CHECK(selection.has_value());
  return *std::move(selection);
}

WatchLink::WatchLink(sandbox::ControlPlane& plane, client::Resource resource, api::SharedParts& shared)
    : plane_(plane),
      resource_(resource),
      selection_(SelectionOf(resource)),
      reader_(client::MakeObjectReader(resource, shared)),
      subscription_(plane.store().Subscribe(selection_, *this)) {}

WatchLink::~WatchLink() { plane_.store().Unsubscribe(subscription_); }

void WatchLink::OnChange(const sandbox::Change& change, sandbox::ChangeFrames& frames) {
  if (must_list_) return;
  const auto type = sandbox::EventFor(
      change, [&](const sandbox::Revision& revision) { return selection_.Matches(revision); });
  if (!type) return;
  base::TimePoint due = plane_.clock().Now();
  if (delay_max_.count() > 0) {
    due += base::Duration(random_.Uniform(static_cast<std::uint64_t>(delay_max_.count())));
  }
  // One connection keeps its order.
  if (!backlog_.empty()) due = std::max(due, backlog_.back().due);
  backlog_.push_back({due, *type, frames.Object(*type)});
}

void WatchLink::Heal(bool relist) {
  is_cut_ = false;
  if (!relist) return;
  backlog_.clear();
  must_list_ = true;
}

void WatchLink::Restart() {
  seen_ = client::ObjectStore();
  is_cut_ = false;
  backlog_.clear();
  must_list_ = true;
}

std::optional<base::TimePoint> WatchLink::NextDeadline() const {
  if (is_cut_) return std::nullopt;
  if (must_list_) return plane_.clock().Now();
  if (backlog_.empty()) return std::nullopt;
  return backlog_.front().due;
}

void WatchLink::TakeDue(base::TimePoint now, std::vector<core::Input>& inputs) {
  if (is_cut_) return;
  if (must_list_) {
    List(inputs);
    return;
  }
  client::EventBatch batch{.resource = resource_, .resource_version = {}, .events = {}};
  while (!backlog_.empty() && backlog_.front().due <= now) {
    seen_.Apply(backlog_.front().type, Read(*backlog_.front().object), batch.events);
    backlog_.pop_front();
  }
  shell::AppendInputs(batch, inputs);
}

void WatchLink::List(std::vector<core::Input>& inputs) {
  must_list_ = false;
  const auto page = plane_.store().List(selection_);
  BERTH_CHECK(page.has_value());
  std::vector<client::ReadObject> items;
  for (const sandbox::RevisionPtr& revision : page->items) items.push_back(Read(*revision));
  seen_.Replace(std::move(items),
                [&](const std::vector<client::ObjectEvent>& events) { shell::AppendInputs(events, inputs); });
}

client::ReadObject WatchLink::Read(const sandbox::Revision& revision) {
  auto read = reader_->Read(client::Encoding::kProtobuf, revision.protobuf());
  BERTH_CHECK(read.has_value());
  return *std::move(read);
}

}  // namespace berth::sim
