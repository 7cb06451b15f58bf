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

constexpr char kObject = 'o';
constexpr char kName = 'n';
constexpr char kField = 'f';
constexpr char kNamespace = 's';
constexpr char kAll = 'a';

std::string BucketOf(const Selection& selection) {
  const Resource& resource = selection.resource();
  if (!selection.name().empty()) {
    return selection.namespace_name().empty()
               ? Bucket(resource, kName, selection.name())
               : Bucket(resource, kObject, selection.namespace_name(), selection.name());
  }
  if (const std::string* field = selection.first_field()) return Bucket(resource, kField, *field);
  if (!selection.namespace_name().empty()) return Bucket(resource, kNamespace, selection.namespace_name());
  return Bucket(resource, kAll, {});
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
  AppendBucket(Bucket(resource, kAll, {}), ids);
  AppendBucket(Bucket(resource, kName, object.name()), ids);
  if (resource.namespaced) {
    AppendBucket(Bucket(resource, kNamespace, object.namespace_name()), ids);
    AppendBucket(Bucket(resource, kObject, object.namespace_name(), object.name()), ids);
  }
  if (!resource.fields.empty()) {
    AppendBucket(Bucket(resource, kField, object.field(0)), ids);
    if (change.previous != nullptr && change.previous->field(0) != object.field(0)) {
      AppendBucket(Bucket(resource, kField, change.previous->field(0)), ids);
    }
  }
  ChangeFrames frames(change);
  for (const std::uint64_t id : ids) {
    const auto entry = receivers_.find(id);
    if (entry != receivers_.end()) entry->second.receiver->OnChange(change, frames);
  }
}

}  // namespace berth::sandbox
