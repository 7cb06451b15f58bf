#include "base/indexed_heap.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::base {
namespace {

TEST(IndexedHeap, PopsInOrder) {
  IndexedHeap<int> heap;
  for (const int value : {5, 3, 9, 1, 7, 3}) heap.Push(value);
  std::vector<int> popped;
  while (!heap.empty()) popped.push_back(heap.Pop());
  EXPECT_EQ(popped, (std::vector<int>{1, 3, 3, 5, 7, 9}));
}

TEST(IndexedHeap, UpdateMovesBothWays) {
  IndexedHeap<int> heap;
  const HeapHandle low = heap.Push(1);
  const HeapHandle high = heap.Push(10);
  heap.Push(5);
  heap.Update(low, 20);
  heap.Change(high, [](int& value) { value = 2; });
  EXPECT_EQ(heap.TopHandle(), high);
  EXPECT_EQ(heap.Pop(), 2);
  EXPECT_EQ(heap.Pop(), 5);
  EXPECT_EQ(heap.Pop(), 20);
}

TEST(IndexedHeap, HandleIsReusedAfterRemoval) {
  IndexedHeap<int> heap;
  const HeapHandle handle = heap.Push(1);
  EXPECT_EQ(heap.Remove(handle), 1);
  EXPECT_FALSE(heap.Contains(handle));
  EXPECT_EQ(heap.Push(2), handle);
}

TEST(IndexedHeap, HoldsMoveOnlyElements) {
  const auto less = [](const auto& a, const auto& b) { return *a < *b; };
  IndexedHeap<std::unique_ptr<int>, decltype(less)> heap(less);
  heap.Push(std::make_unique<int>(2));
  heap.Push(std::make_unique<int>(1));
  EXPECT_EQ(*heap.Pop(), 1);
}

TEST(IndexedHeap, ClearFreesEveryHandle) {
  IndexedHeap<int> heap;
  const HeapHandle handle = heap.Push(1);
  heap.Push(2);
  heap.clear();
  EXPECT_TRUE(heap.empty());
  EXPECT_FALSE(heap.Contains(handle));
}

struct Operation {
  std::uint8_t kind;
  std::uint8_t which;
  std::int8_t value;
};

// The model: handles and values in a map, the least found by looking at all of them.
RC_GTEST_PROP(IndexedHeap, EqualsAScanAfterAnyHistory, ()) {
  const auto operations = *rc::gen::container<std::vector<Operation>>(
      rc::gen::construct<Operation>(rc::gen::arbitrary<std::uint8_t>(), rc::gen::arbitrary<std::uint8_t>(),
                                    rc::gen::arbitrary<std::int8_t>()));
  IndexedHeap<int> heap;
  std::map<HeapHandle, int> model;
  for (const auto& [kind, which, value] : operations) {
    auto chosen = model.begin();
    if (!model.empty()) std::advance(chosen, which % model.size());
    if (model.empty() || kind % 5 < 2) {
      const HeapHandle handle = heap.Push(value);
      RC_ASSERT(model.emplace(handle, value).second);
    } else if (kind % 5 == 2) {
      heap.Update(chosen->first, value);
      chosen->second = value;
    } else if (kind % 5 == 3) {
      RC_ASSERT(heap.Remove(chosen->first) == chosen->second);
      model.erase(chosen);
    } else {
      const HeapHandle top = heap.TopHandle();
      const int popped = heap.Pop();
      RC_ASSERT(model.at(top) == popped);
      model.erase(top);
      RC_ASSERT(std::ranges::all_of(model, [&](const auto& entry) { return popped <= entry.second; }));
    }
    RC_ASSERT(heap.size() == model.size());
    std::map<HeapHandle, int> seen;
    heap.ForEach([&](HeapHandle handle, int element) { seen.emplace(handle, element); });
    RC_ASSERT(seen == model);
    for (const auto& [handle, element] : model) RC_ASSERT(heap.Get(handle) == element);
  }
}

}  // namespace
}  // namespace berth::base
