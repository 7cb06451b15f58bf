#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"

namespace berth::base {

using HeapHandle = Id<struct HeapHandleTag>;

// A priority queue whose elements can be changed and removed from the middle. The least element is on top.
//
// 1. A handle is valid from Push until its element is popped or removed; then it is reused.
// 2. positions_[handle] is where the element of a live handle is in heap_.
//
// Push, Pop, Update and Remove cost O(log n) comparisons, the rest O(1). Elements that are equal to Less come
// out in an order that depends on the history: callers who care make Less total, with a sequence number for
// example. Four children per element: half the levels of a binary heap, and the children share a cache line
// or two.
template <class T, class Less = std::less<T>>
class IndexedHeap {
 public:
  explicit IndexedHeap(Less less = Less()) : less_(std::move(less)) {}

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  void reserve(std::size_t size) {
    heap_.reserve(size);
    positions_.reserve(size);
  }

  HeapHandle Push(T value) {
    const HeapHandle handle = TakeHandle();
    heap_.push_back({std::move(value), handle});
    positions_[handle.index()] = heap_.size() - 1;
    SiftUp(heap_.size() - 1);
    return handle;
  }

  const T& Top() const {
    BERTH_DCHECK(!empty());
    return heap_.front().value;
  }
  HeapHandle TopHandle() const {
    BERTH_DCHECK(!empty());
    return heap_.front().handle;
  }
  T Pop() { return RemoveAt(0); }

  bool Contains(HeapHandle handle) const {
    return handle.index() < positions_.size() && positions_[handle.index()] != kNowhere;
  }
  const T& Get(HeapHandle handle) const { return heap_[PositionOf(handle)].value; }

  void Update(HeapHandle handle, T value) {
    Change(handle, [&](T& element) { element = std::move(value); });
  }
  // Changes the element in place, then moves it to where it belongs.
  template <class F>
  void Change(HeapHandle handle, F&& change) {
    const std::size_t position = PositionOf(handle);
    change(heap_[position].value);
    SiftDown(SiftUp(position));
  }

  T Remove(HeapHandle handle) { return RemoveAt(PositionOf(handle)); }

  // Every element once, in no useful order.
  template <class F>
  void ForEach(F&& visit) const {
    for (const Element& element : heap_) visit(element.handle, element.value);
  }

  void clear() {
    while (!heap_.empty()) {
      FreeHandle(heap_.back().handle);
      heap_.pop_back();
    }
  }

 private:
  static constexpr std::size_t kChildren = 4;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  struct Element {
    T value;
    HeapHandle handle;
  };

  HeapHandle TakeHandle() {
    if (!free_.empty()) {
      const HeapHandle handle = free_.back();
      free_.pop_back();
      return handle;
    }
    BERTH_CHECK(positions_.size() < HeapHandle::kInvalidValue);
    positions_.push_back(kNowhere);
    return HeapHandle(static_cast<std::uint32_t>(positions_.size() - 1));
  }

  void FreeHandle(HeapHandle handle) {
    positions_[handle.index()] = kNowhere;
    free_.push_back(handle);
  }

  std::size_t PositionOf(HeapHandle handle) const {
    BERTH_DCHECK(Contains(handle));
    return positions_[handle.index()];
  }

  T RemoveAt(std::size_t position) {
    BERTH_DCHECK(position < heap_.size());
    FreeHandle(heap_[position].handle);
    T removed = std::move(heap_[position].value);
    if (position + 1 < heap_.size()) {
      Place(position, std::move(heap_.back()));
      heap_.pop_back();
      SiftDown(SiftUp(position));
    } else {
      heap_.pop_back();
    }
    return removed;
  }

  void Place(std::size_t position, Element&& element) {
    positions_[element.handle.index()] = position;
    heap_[position] = std::move(element);
  }

  std::size_t SiftUp(std::size_t position) {
    if (position == 0 || !less_(heap_[position].value, heap_[(position - 1) / kChildren].value))
      return position;
    Element moving = std::move(heap_[position]);
    while (position > 0) {
      const std::size_t parent = (position - 1) / kChildren;
      if (!less_(moving.value, heap_[parent].value)) break;
      Place(position, std::move(heap_[parent]));
      position = parent;
    }
    Place(position, std::move(moving));
    return position;
  }

  void SiftDown(std::size_t position) {
    Element moving = std::move(heap_[position]);
    for (;;) {
      const std::size_t first = position * kChildren + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = std::min(first + kChildren, heap_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (less_(heap_[child].value, heap_[least].value)) least = child;
      }
      if (!less_(heap_[least].value, moving.value)) break;
      Place(position, std::move(heap_[least]));
      position = least;
    }
    Place(position, std::move(moving));
  }

  Less less_;
  std::vector<Element> heap_;
  std::vector<std::size_t> positions_;
  std::vector<HeapHandle> free_;
};

}  // namespace berth::base
