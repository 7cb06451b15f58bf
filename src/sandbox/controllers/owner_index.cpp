#include "sandbox/controllers/owner_index.h"

namespace berth::sandbox {

RevisionPtr FindByKey(const Store& store, const Resource& resource, std::string_view key) {
  if (!resource.namespaced) return store.Find(resource, "", key);
  const std::size_t slash = key.find('/');
  return store.Find(resource, key.substr(0, slash), key.substr(slash + 1));
}

Target TargetOf(const Revision& object, std::string subresource) {
  return {.resource = &object.resource(),
          .namespace_name = std::string(object.namespace_name()),
          .name = std::string(object.name()),
          .subresource = std::move(subresource)};
}

OwnerIndex::OwnerIndex(ControlPlane& plane) : plane_(plane) {
  for (const Resource& resource : ResourceTable::Get().resources()) {
    if (resource.create_only || resource.storage != &resource) continue;
    subscriptions_.push_back(plane.store().Subscribe(Selection(resource), *this));
  }
  plane.store().ForEachObject([&](const RevisionPtr& object) { Insert(*object); });
}

OwnerIndex::~OwnerIndex() {
  for (const SubscriptionId id : subscriptions_) plane_.store().Unsubscribe(id);
}

std::vector<RevisionPtr> OwnerIndex::DependentsOf(std::string_view uid) const {
  std::vector<RevisionPtr> objects;
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return objects;
  for (const auto& [index, key] : it->second) {
    RevisionPtr object = FindByKey(plane_.store(), ResourceTable::Get().resources()[index], key);
    if (object != nullptr) objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<RevisionPtr> OwnerIndex::ManagedBy(std::string_view uid, const Resource& resource) const {
  std::vector<RevisionPtr> managed;
  for (RevisionPtr& object : DependentsOf(uid)) {
    if (&object->resource() == &resource && object->controller_uid() == uid)
      managed.push_back(std::move(object));
  }
  return managed;
}

void OwnerIndex::Insert(const Revision& object) {
  for (const Owner& owner : object.owners()) {
    dependents_[owner.uid].insert({object.resource().index, object.key()});
  }
}

void OwnerIndex::Remove(const Revision& object) {
  for (const Owner& owner : object.owners()) {
    const auto it = dependents_.find(owner.uid);
    if (it == dependents_.end()) continue;
    it->second.erase({object.resource().index, object.key()});
    if (it->second.empty()) dependents_.erase(it);
  }
}

void OwnerIndex::OnChange(const Change& change, ChangeFrames&) {
  if (change.previous != nullptr) Remove(*change.previous);
  if (change.type != wire::WatchType::kDeleted) Insert(*change.object);
}

}  // namespace berth::sandbox
