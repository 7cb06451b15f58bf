#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace berth::base {

// A map in one sorted vector: for the many small maps of API objects (labels, resource lists), which are
// built once and read often. Iteration is in key order, so it may reach messages and encodings.
//
// Lookup is O(log n), insertion of a key out of order O(n). Look-ups take any type that compares with Key.
template <class Key, class Value>
class FlatMap {
 public:
  using value_type = std::pair<Key, Value>;
  using const_iterator = typename std::vector<value_type>::const_iterator;
  using iterator = typename std::vector<value_type>::iterator;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> entries) {
    reserve(entries.size());
    for (const value_type& entry : entries) insert_or_assign(entry.first, entry.second);
  }

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  // Values may be changed in place; keys must not be.
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  void reserve(std::size_t size) { entries_.reserve(size); }
  void shrink_to_fit() { entries_.shrink_to_fit(); }
  void clear() { entries_.clear(); }

  template <class K>
  const Value* find(const K& key) const {
    const auto it = LowerBound(entries_, key);
    return it != entries_.end() && it->first == key ? &it->second : nullptr;
  }
  template <class K>
  Value* find(const K& key) {
    const auto it = LowerBound(entries_, key);
    return it != entries_.end() && it->first == key ? &it->second : nullptr;
  }
  template <class K>
  bool contains(const K& key) const {
    return find(key) != nullptr;
  }

  // The last value for a key wins, as when a document repeats a key.
  template <class K, class V>
  Value& insert_or_assign(K&& key, V&& value) {
    // Encoders write keys in order, so appending is the common case.
    if (entries_.empty() || entries_.back().first < key) {
      entries_.emplace_back(std::forward<K>(key), std::forward<V>(value));
      return entries_.back().second;
    }
    auto it = LowerBound(entries_, key);
    if (it->first == key) {
      it->second = std::forward<V>(value);
    } else {
      it = entries_.emplace(it, std::forward<K>(key), std::forward<V>(value));
    }
    return it->second;
  }

  template <class K>
  Value& operator[](K&& key) {
    if (Value* found = find(key)) return *found;
    return insert_or_assign(std::forward<K>(key), Value{});
  }

  template <class K>
  bool erase(const K& key) {
    const auto it = LowerBound(entries_, key);
    if (it == entries_.end() || it->first != key) return false;
    entries_.erase(it);
    return true;
  }

  bool operator==(const FlatMap&) const = default;

 private:
  template <class Entries, class K>
  static auto LowerBound(Entries& entries, const K& key) {
    return std::lower_bound(entries.begin(), entries.end(), key,
                            [](const value_type& entry, const K& wanted) { return entry.first < wanted; });
  }

  std::vector<value_type> entries_;
};

}  // namespace berth::base
