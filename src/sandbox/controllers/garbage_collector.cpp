#include "sandbox/controllers/garbage_collector.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/finalizers.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

void RemoveFinalizer(ObjectWriter& writer, const Revision& object, std::string_view name) {
  static_cast<void>(
      ChangeObject(writer, object, [&](json::object& document) { DropFinalizer(document, name); }));
}

enum class Presence { kThere, kGone, kUnknown };

struct OwnerView {
  Presence presence = Presence::kUnknown;
  RevisionPtr object;
};

OwnerView FindOwner(const Store& store, const json::object& reference, std::string_view namespace_name) {
  const Resource* resource =
      ResourceTable::Get().FindKind(TextAt(reference, {"apiVersion"}), TextAt(reference, {"kind"}));
  if (resource == nullptr || resource->create_only) return {};
  RevisionPtr found = store.Find(*resource, resource->namespaced ? namespace_name : std::string_view(),
                                 TextAt(reference, {"name"}));
  if (found == nullptr || found->uid() != TextAt(reference, {"uid"})) return {Presence::kGone, nullptr};
  return {Presence::kThere, std::move(found)};
}

bool Blocks(const Revision& dependent, std::string_view owner_uid) {
  const json::object document = dependent.Document();
  const json::array* owners = FindArray(document, {"metadata", "ownerReferences"});
  return owners != nullptr && std::ranges::any_of(*owners, [&](const json::value& owner) {
           return owner.is_object() && TextAt(owner.get_object(), {"uid"}) == owner_uid &&
                  FlagAt(owner.get_object(), {"blockOwnerDeletion"});
         });
}

}  // namespace

GarbageCollector::GarbageCollector(const ControllerContext& context)
    : context_(context), queue_(context.plane, [this](const std::string& key) { Look(key); }) {
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (resource.create_only || resource.storage != &resource) continue;
    subscriptions_.push_back(context_.plane.store().Subscribe(Selection(resource), *this));
  }
  context_.plane.store().ForEachObject([&](const RevisionPtr& object) {
    if (object->is_terminating() || !object->owners().empty()) Add(*object);
  });
}

GarbageCollector::~GarbageCollector() {
  for (const SubscriptionId id : subscriptions_) context_.plane.store().Unsubscribe(id);
}

void GarbageCollector::Add(const Revision& object) {
  queue_.Add(fmt::format("{} {}", object.resource().index, object.key()));
}

void GarbageCollector::OnChange(const Change& change, ChangeFrames&) {
  const Revision& object = *change.object;
  if (change.type == wire::WatchType::kDeleted) {
    for (const RevisionPtr& dependent : context_.owners.DependentsOf(object.uid())) Add(*dependent);
    if (!object.owners().empty()) AddOwners(object);
    return;
  }
  const bool is_new_dependent = !object.owners().empty() && change.type == wire::WatchType::kAdded;
  if (is_new_dependent || object.is_terminating()) Add(object);
}

// An owner may be waiting for this one to go.
void GarbageCollector::AddOwners(const Revision& object) {
  const json::object document = object.Document();
  const json::array* references = FindArray(document, {"metadata", "ownerReferences"});
  if (references == nullptr) return;
  for (const json::value& reference : *references) {
    if (!reference.is_object()) continue;
    const OwnerView owner =
        FindOwner(context_.plane.store(), reference.get_object(), object.namespace_name());
    if (owner.object != nullptr && owner.object->is_terminating()) Add(*owner.object);
  }
}

void GarbageCollector::Look(const std::string& work_key) {
  const std::size_t blank = work_key.find(' ');
  std::size_t index = 0;
  std::from_chars(work_key.data(), work_key.data() + blank, index);
  const Resource& resource = ResourceTable::Get().resources()[index];
  const RevisionPtr object =
      FindByKey(context_.plane.store(), resource, std::string_view(work_key).substr(blank + 1));
  if (object == nullptr) return;
  const json::object document = object->Document();
  if (!object->is_terminating()) {
    CheckOwners(object, document);
  } else if (HasFinalizer(document, kOrphan)) {
    OrphanDependents(object);
  } else if (HasFinalizer(document, kForeground)) {
    DeleteDependents(object);
  }
}

void GarbageCollector::OrphanDependents(const RevisionPtr& owner) {
  for (const RevisionPtr& dependent : context_.owners.DependentsOf(owner->uid())) {
    Release(context_.plane.writer(), *dependent, owner->uid());
  }
  RemoveFinalizer(context_.plane.writer(), *owner, kOrphan);
}

void GarbageCollector::DeleteDependents(const RevisionPtr& owner) {
  bool is_blocked = false;
  for (const RevisionPtr& dependent : context_.owners.DependentsOf(owner->uid())) {
    if (!dependent->is_terminating()) {
      const bool is_owner = !context_.owners.DependentsOf(dependent->uid()).empty();
      static_cast<void>(context_.plane.writer().Delete(
          TargetOf(*dependent),
          {.propagation = is_owner ? Propagation::kForeground : Propagation::kBackground}));
    }
    const RevisionPtr left = FindByKey(context_.plane.store(), dependent->resource(), dependent->key());
    is_blocked = is_blocked || (left != nullptr && Blocks(*left, owner->uid()));
  }
  if (!is_blocked) RemoveFinalizer(context_.plane.writer(), *owner, kForeground);
}

void GarbageCollector::CheckOwners(const RevisionPtr& object, const json::object& document) {
  const json::array* references = FindArray(document, {"metadata", "ownerReferences"});
  if (references == nullptr) return;
  std::vector<std::string> gone;
  bool is_held = false;
  for (const json::value& reference : *references) {
    if (!reference.is_object()) continue;
    const OwnerView owner =
        FindOwner(context_.plane.store(), reference.get_object(), object->namespace_name());
    if (owner.presence == Presence::kGone) {
      gone.emplace_back(TextAt(reference.get_object(), {"uid"}));
    } else {
      is_held = true;
    }
  }
  if (gone.empty()) return;
  if (is_held) {
    for (const std::string& uid : gone) {
      const RevisionPtr current = FindByKey(context_.plane.store(), object->resource(), object->key());
      if (current != nullptr) Release(context_.plane.writer(), *current, uid);
    }
    return;
  }
  static_cast<void>(context_.plane.writer().Delete(
      TargetOf(*object), {.uid = object->uid(), .propagation = Propagation::kBackground}));
}

}  // namespace berth::sandbox
