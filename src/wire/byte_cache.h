#pragma once

#include <absl/container/flat_hash_map.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/interner.h"

namespace berth::wire {

// What was decoded from equal bytes before. Keys compare byte for byte, so a hit is exact. They are kept once
// they have come more often than the events of one pod would bring them, which may be like no other: until
// then a hash is kept.
// Values are held weakly: they go away with their last user, and the keys of those that did are swept when
// the cache is full. Bounded by the bytes of its keys; when values that are still in use fill it, it starts
// again from nothing, which costs decoding only.
template <class T>
class ByteCache {
 public:
  explicit ByteCache(std::size_t key_bytes_max) : key_bytes_max_(key_bytes_max) {}

  std::shared_ptr<const T> Find(std::string_view key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : it->second.lock();
  }

  void Put(std::string_view key, const std::shared_ptr<const T>& value) {
    if (key.size() > key_bytes_max_ / 16) return;
    if (seen_.size() >= kSeenMax) seen_.clear();
    std::uint8_t& times = seen_[base::HashText(key)];
    if (times < kSeldom) {
      ++times;
      return;
    }
    if (key_bytes_ + key.size() > key_bytes_max_) MakeRoom();
    const auto [it, added] = values_.try_emplace(key, value);
    if (added) {
      key_bytes_ += key.size();
    } else {
      it->second = value;
    }
  }

 private:
  void MakeRoom() {
    absl::erase_if(values_, [&](const auto& entry) {
      if (!entry.second.expired()) return false;
      key_bytes_ -= entry.first.size();
      return true;
    });
    if (key_bytes_ <= key_bytes_max_ / 2) return;
    values_.clear();
    key_bytes_ = 0;
  }

  static constexpr std::size_t kSeenMax = 100'000;
  // A pod is seen when it is made, when it is bound, and when it runs.
  static constexpr std::uint8_t kSeldom = 3;

  absl::flat_hash_map<std::size_t, std::uint8_t> seen_;
  absl::flat_hash_map<std::string, std::weak_ptr<const T>, base::TextHash, std::equal_to<>> values_;
  std::size_t key_bytes_max_;
  std::size_t key_bytes_ = 0;
};

}  // namespace berth::wire
