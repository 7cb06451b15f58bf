#include "sandbox/subscriptions.h"

#include <algorithm>

#include "base/check.h"

namespace berth::sandbox {
namespace {

// Names of objects, fields and namespaces hold no blank, so parts cannot run into each other.
std::string Bucket(const Resource& resource, char what, std::string_view first,
                   std::string_view second = {}) {
  std::string bucket = std::to_string(resource.index);
  bucket += what;
  bucket.append(first).append(" ").append(second);
  return bucket;
}

constexpr char kByObject = 'o';
constexpr char kByName = 'n';
constexpr char kByField = 'f';
constexpr char kByNamespace = 's';
constexpr char kByAll = 'a';

std::string BucketOf(const Selection& selection) {
  const Resource& resource = selection.resource();
  if (!selection.name().empty()) {
    return selection.namespace_name().empty()
               ? Bucket(resource, kByName, selection.name())
               : Bucket(resource, kByObject, selection.namespace_name(), selection.name());
  }
  if (const std::string* field = selection.first_field()) return Bucket(resource, kByField, *field);
  if (!selection.namespace_name().empty()) return Bucket(resource, kByNamespace, selection.namespace_name());
  return Bucket(resource, kByAll, {});
}

}  // namespace

SubscriptionId Subscriptions::Add(const Selection& selection, ChangeReceiver& receiver) {
  const std::uint64_t id = ++last_id_;
  std::string bucket = BucketOf(selection);
  buckets_[bucket].push_back(id);
  receivers_.emplace(id, Entry{&receiver, std::move(bucket)});
  return {id};
}

void Subscriptions::Remove(SubscriptionId id) {
  const auto entry = receivers_.find(id.value);
  if (entry == receivers_.end()) return;
  const auto bucket = buckets_.find(entry->second.bucket);
  BERTH_CHECK(bucket != buckets_.end());
  std::erase(bucket->second, id.value);
  if (bucket->second.empty()) buckets_.erase(bucket);
  receivers_.erase(entry);
}

void Subscriptions::AppendBucket(const std::string& bucket, std::vector<std::uint64_t>& ids) const {
  const auto it = buckets_.find(bucket);
  if (it != buckets_.end()) ids.insert(ids.end(), it->second.begin(), it->second.end());
}

void Subscriptions::Tell(const Change& change) {
  if (receivers_.empty()) return;
  const Revision& object = *change.object;
  const Resource& resource = object.resource();
  std::vector<std::uint64_t> ids;
  AppendBucket(Bucket(resource, kByAll, {}), ids);
  AppendBucket(Bucket(resource, kByName, object.name()), ids);
  if (resource.namespaced) {
    AppendBucket(Bucket(resource, kByNamespace, object.namespace_name()), ids);
    AppendBucket(Bucket(resource, kByObject, object.namespace_name(), object.name()), ids);
  }
  if (!resource.fields.empty()) {
    AppendBucket(Bucket(resource, kByField, object.field(0)), ids);
    if (change.previous != nullptr && change.previous->field(0) != object.field(0)) {
      AppendBucket(Bucket(resource, kByField, change.previous->field(0)), ids);
    }
  }
  ChangeFrames frames(change);
  for (const std::uint64_t id : ids) {
    const auto entry = receivers_.find(id);
    if (entry != receivers_.end()) entry->second.receiver->OnChange(change, frames);
  }
}

}  // namespace berth::sandbox
