#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/shared_pool.h"

namespace berth::base {

// An immutable map of texts that many objects have in common, such as labels: a pointer to one block that
// counts its users and goes with the last of them, on whatever thread that is. Small, because a cluster may
// have a map for every pod. An empty map takes no memory.
//
// Entries are in the order of their keys. find() compares one after the other: maps are small.
class SharedTextMap {
 public:
  using Entry = std::pair<std::string_view, std::string_view>;

  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const char* sizes, const char* text) : sizes_(sizes), text_(text) {}
    Entry operator*() const {
      const std::size_t key = SizeAt(sizes_);
      return {{text_, key}, {text_ + key, SizeAt(sizes_ + kSize)}};
    }
    Iterator& operator++() {
      text_ += SizeAt(sizes_) + SizeAt(sizes_ + kSize);
      sizes_ += 2 * kSize;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return sizes_ == other.sizes_; }

   private:
    const char* sizes_ = nullptr;
    const char* text_ = nullptr;
  };

  SharedTextMap() = default;
  explicit SharedTextMap(const FlatMap<std::string, std::string>& map);
  // From what Pack() made of some entries.
  explicit SharedTextMap(std::string_view packed);
  SharedTextMap(const SharedTextMap& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) held_->users.fetch_add(1, std::memory_order_relaxed);
  }
  SharedTextMap(SharedTextMap&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  SharedTextMap& operator=(SharedTextMap other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~SharedTextMap() {
    if (held_ != nullptr && held_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }

  bool empty() const { return held_ == nullptr; }
  std::size_t size() const { return held_ == nullptr ? 0 : held_->count; }
  Iterator begin() const { return {Sizes(), Sizes() + size() * 2 * kSize}; }
  Iterator end() const { return {Sizes() + size() * 2 * kSize, nullptr}; }
  std::optional<std::string_view> find(std::string_view key) const;
  // As a function from key to value: what label selectors take.
  std::optional<std::string_view> operator()(std::string_view key) const { return find(key); }
  FlatMap<std::string, std::string> ToMap() const;

  // Nobody else can come to have it: then it is told by the only thread that could make a copy.
  bool IsUnshared() const { return held_ != nullptr && held_->users.load(std::memory_order_acquire) == 1; }
  // Maps of one pool that are equal are one; so are copies.
  bool IsSame(const SharedTextMap& other) const { return held_ == other.held_; }
  bool operator==(const SharedTextMap& other) const {
    return held_ == other.held_ || packed() == other.packed();
  }

  // Appends to `out` what the map is made from. Keys ascend, none is there twice.
  static void Pack(std::span<const Entry> entries, std::string& out);
  std::string_view packed() const { return {Sizes(), held_ == nullptr ? 0 : held_->packed_size}; }
  std::size_t hash() const { return held_ == nullptr ? 0 : held_->hash; }
  static std::size_t HashOf(std::string_view packed);

 private:
  static constexpr std::size_t kSize = sizeof(std::uint32_t);

  // Before the packed bytes: two sizes for each entry, then the keys and values themselves.
  struct Held {
    std::atomic<std::uint32_t> users;
    std::uint32_t count;
    std::uint32_t packed_size;
    std::uint32_t hash;
  };

  static std::uint32_t SizeAt(const char* at);
  const char* Sizes() const { return held_ == nullptr ? nullptr : reinterpret_cast<const char*>(held_ + 1); }
  void Free();

  Held* held_ = nullptr;
};

// Gives equal maps one block for as long as somebody uses it. For one thread.
class TextMapPool {
 public:
  // Entries may be in any order; of those with one key the last one counts.
  SharedTextMap Intern(std::vector<SharedTextMap::Entry>& entries);
  SharedTextMap Intern(const FlatMap<std::string, std::string>& map);
  std::size_t size() const { return maps_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const SharedTextMap& map) const { return map.hash(); }
    std::size_t operator()(std::string_view packed) const { return SharedTextMap::HashOf(packed); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const SharedTextMap& a, const SharedTextMap& b) const { return a == b; }
    bool operator()(const SharedTextMap& a, std::string_view b) const { return a.packed() == b; }
  };

  SharedPool<SharedTextMap, Hash, Equal> maps_;
  std::string packed_;
  std::vector<SharedTextMap::Entry> entries_;
};

}  // namespace berth::base
