#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

#include "queue/backoff_lanes.h"

namespace berth::queue {
namespace {

class ByPriority final : public framework::QueueSortPoint {
 public:
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override {
    return a.priority > b.priority;
  }
};

struct Step {
  std::uint8_t what;
  std::uint8_t who;
  std::uint8_t number;
};

// The model: everybody in one list, which is looked through, and who rests in a set.
struct Waiting {
  BackoffEntry entry;
  std::uint64_t likeness;
  base::HeapHandle handle;
};

RC_GTEST_PROP(BackoffLanes, EqualAScanAfterAnyHistory, ()) {
  const auto byte = rc::gen::arbitrary<std::uint8_t>();
  const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::construct<Step>(byte, byte, byte));
  const ByPriority sort;
  const BackoffOrder order{{&sort}, true};
  BackoffLanes lanes(order);
  std::vector<Waiting> model;
  std::set<std::uint64_t> resting;
  std::uint64_t sequence = 0;

  for (const Step& step : steps) {
    const std::uint64_t likeness = step.number % 4;
    switch (step.what % 6) {
      case 0:
      case 1: {
        const base::TimePoint expiry(std::chrono::seconds(step.number % 7));
        const BackoffEntry entry{expiry, expiry, {{step.who % 3, {}}, sequence++, ItemId(step.who)}};
        model.push_back({entry, likeness, lanes.Push(likeness, entry)});
        break;
      }
      case 2: {
        if (model.empty()) break;
        const auto gone = model.begin() + step.who % static_cast<int>(model.size());
        lanes.Remove(gone->likeness, gone->handle);
        const std::uint64_t left = gone->likeness;
        model.erase(gone);
        // Who comes when nobody of its likeness is there any more does not find it resting.
        if (std::ranges::find(model, left, &Waiting::likeness) == model.end()) resting.erase(left);
        break;
      }
      case 3: {
        if (model.empty()) break;
        Waiting& changed = model[step.who % model.size()];
        changed.entry.active.key.priority = step.number;
        lanes.SetPriority(changed.likeness, changed.handle, step.number);
        break;
      }
      case 4:
        lanes.Rest(likeness);
        if (likeness != 0 && std::ranges::find(model, likeness, &Waiting::likeness) != model.end()) {
          resting.insert(likeness);
        }
        break;
      default:
        lanes.WakeAll();
        resting.clear();
    }

    std::ranges::sort(model, order, &Waiting::entry);
    const auto awake =
        std::ranges::find_if(model, [&](const Waiting& w) { return !resting.contains(w.likeness); });
    RC_ASSERT(lanes.empty() == model.empty());
    RC_ASSERT(lanes.HasAwake() == (awake != model.end()));
    if (!model.empty()) RC_ASSERT(lanes.First().active.sequence == model.front().entry.active.sequence);
    if (awake != model.end()) RC_ASSERT(lanes.FirstAwake().active.sequence == awake->entry.active.sequence);
    const std::vector<BackoffEntry> sorted = lanes.Sorted();
    RC_ASSERT(std::ranges::equal(
        sorted, model, {}, [](const BackoffEntry& e) { return e.active.sequence; },
        [](const Waiting& w) { return w.entry.active.sequence; }));
  }
}

}  // namespace
}  // namespace berth::queue
