#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace berth::base {

// A function of an interned id, computed at most once per id: thousands of rows share a handful of sets, so
// what depends only on the set is decided per set and looked up per row.
//
// It does not notice when an id is released and comes back with another value. A memo that lives that long is
// told by Forget(), or is a GenerationalMemo.
template <class IdType, class T>
class Memo {
 public:
  explicit Memo(std::move_only_function<T(IdType)> compute) : compute_(std::move(compute)) {}

  // Valid until the next call.
  const T& operator()(IdType id) {
    if (id.index() < slots_.size() && slots_[id.index()].known) return slots_[id.index()].value;
    // Before the slot is touched: computing may ask this memo about other ids.
    T value = compute_(id);
    if (id.index() >= slots_.size()) slots_.resize(id.index() + 1);
    slots_[id.index()] = {std::move(value), true};
    return slots_[id.index()].value;
  }

  void Forget(IdType id) {
    if (id.index() < slots_.size()) slots_[id.index()] = {};
  }
  void clear() { slots_.clear(); }

 private:
  struct Slot {
    T value{};
    bool known = false;
  };

  std::move_only_function<T(IdType)> compute_;
  std::vector<Slot> slots_;
};

// The same for a table that lives longer than the ids: each answer belongs to one generation of its id. The
// function is given with the call, because what it reads seldom lives as long as the answers.
template <class IdType, class T>
class GenerationalMemo {
 public:
  // Valid until the next call.
  template <class F>
  const T& Get(Versioned<IdType> key, F&& compute) {
    const std::size_t index = key.id.index();
    if (index < slots_.size() && slots_[index].known && slots_[index].generation == key.generation) {
      return slots_[index].value;
    }
    T value = compute(key.id);
    if (index >= slots_.size()) slots_.resize(index + 1);
    slots_[index] = {std::move(value), key.generation, true};
    return slots_[index].value;
  }
  void clear() { slots_.clear(); }

 private:
  struct Slot {
    T value{};
    std::uint32_t generation = 0;
    bool known = false;
  };

  std::vector<Slot> slots_;
};

}  // namespace berth::base
