#pragma once

#include <absl/container/flat_hash_map.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/change.h"
#include "sandbox/selection.h"

namespace berth::sandbox {

struct SubscriptionId {
  std::uint64_t value = 0;
  bool operator==(const SubscriptionId&) const = default;
};

class ChangeReceiver {
 public:
  virtual ~ChangeReceiver() = default;
  virtual void OnChange(const Change& change, ChangeFrames& frames) = 0;
};

// Who wants to hear of which changes.
//
// A subscription stands in one bucket, that of the narrowest thing its selection fixes: an object, a name,
// the first selectable field (a pod's node), a namespace, or nothing. A change looks into the few buckets
// that can be concerned, so that it costs the number of those who may match and not of all who watch.
//
// Receivers may subscribe and unsubscribe anybody while they are being told.
class Subscriptions {
 public:
  SubscriptionId Add(const Selection& selection, ChangeReceiver& receiver);
  void Remove(SubscriptionId id);
  std::size_t size() const { return receivers_.size(); }

  // In the order of subscription within a bucket.
  void Tell(const Change& change);

 private:
  struct Entry {
    ChangeReceiver* receiver;
    std::string bucket;
  };

  void AppendBucket(const std::string& bucket, std::vector<std::uint64_t>& ids) const;

  absl::flat_hash_map<std::uint64_t, Entry> receivers_;
  absl::flat_hash_map<std::string, std::vector<std::uint64_t>> buckets_;
  std::uint64_t last_id_ = 0;
};

}  // namespace berth::sandbox
