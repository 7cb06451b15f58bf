#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

#include "api/resource_list.h"
#include "cluster/ids.h"
#include "dra/claim_plan.h"
#include "dra/constraints.h"
#include "dra/counters.h"
#include "dra/device_state.h"
#include "dra/pool.h"

namespace berth::dra {

// A device that a solution takes, and for what. Good as long as the pools of the node.
struct TakenDevice {
  std::uint32_t claim = 0;
  std::uint32_t request = 0;
  std::uint32_t alternative = 0;
  const PoolView* pool = nullptr;
  const PoolDevice* device = nullptr;
};

enum class Verdict : std::uint8_t {
  kFound,
  kNone,
  kInvalidPools,  // none, and some pool contradicts itself
  kTimedOut,      // the steps were used up
  kError,
};

struct Outcome {
  Verdict verdict = Verdict::kNone;
  std::string error;  // of kError
};

// Finds devices on a node for all claims of a pod at once.
//
// Depth first in upstream's order, the first solution wins: claims, requests and alternatives as listed; for
// each request the devices of the node pool by pool, never one before the last one taken for the request.
// What a solution does not depend on is left out, so the same solution is found in fewer steps:
// - a device that failed is not tried again in the shape of an interchangeable one;
// - after a failure the rest of the devices is only searched if there are enough of them left.
// A step is a device looked at or a request begun. The number of steps bounds the search instead of the time:
// the same input gives the same answer on every machine.
//
// One object serves an attempt, node after node, and keeps its memory.
class Allocator {
 public:
  explicit Allocator(DeviceState& state) : state_(state) {}
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // The plans live as long as the solution is used.
  Outcome Allocate(std::span<const ClaimPlan* const> claims, cluster::NodeRow row, std::uint64_t steps_max);
  // After kFound: in the order in which they were taken, so by claim and request.
  const std::vector<TakenDevice>& taken() const { return taken_; }
  std::uint64_t steps() const { return steps_; }

 private:
  struct Candidate {
    const PoolView* pool = nullptr;
    const PoolDevice* device = nullptr;
  };
  // An alternative on this node.
  struct Slot {
    const Alternative* alternative = nullptr;
    std::int64_t needed = 0;
    std::vector<Candidate> all;  // of an alternative that takes all
  };
  // Where in the pools.
  struct Cursor {
    std::uint32_t pool = 0;
    std::uint32_t device = 0;
  };
  struct Position {
    std::uint32_t claim = 0;
    std::uint32_t request = 0;
    std::optional<std::uint32_t> alternative;
    std::int64_t device = 0;  // of the alternative, that is to be found next
    Cursor start;
  };
  enum class Level : std::uint8_t { kClaimEnd, kAlternatives, kDevice, kAll };
  // A point to come back to.
  struct Frame {
    Level level = Level::kDevice;
    Position at;
    Cursor next;            // kDevice: what was not tried
    bool said_no = false;   // kAlternatives: some alternative failed for another reason than the limit
    KindId last_kind = {};  // kDevice: of the device that is taken
    absl::InlinedVector<KindId, 4> failed;
  };
  enum class Answer : std::uint8_t { kYes, kNo, kLimit, kStop };
  struct Share {
    int count = 0;
    api::ResourceList consumed;
  };

  void Begin(std::span<const ClaimPlan* const> claims, cluster::NodeRow row, std::uint64_t steps_max);
  bool Prepare();
  std::optional<std::int64_t> PrepareAlternative(const ClaimPlan& claim, const Alternative& alternative);
  bool SelectAll(const ClaimPlan& claim, Slot& slot);

  Answer Search();
  Answer Descend(Position& position);
  // Whether the search goes on from `position`; else the frame is done with `answer`.
  bool Resume(Frame& frame, Answer& answer, Position& position);
  Answer TakeNext(Frame& frame, Position& position);
  bool HasEnoughLeft(const Frame& frame) const;
  bool MayFailAlike(const Frame& frame) const;

  const Alternative& AlternativeAt(const Position& at) const;
  const Slot& SlotAt(const Position& at) const;

  bool IsMulti(const PoolDevice& device) const;
  bool IsInUse(const PoolDevice& device, const Position& at) const;
  Match Selectable(const ClaimPlan& claim, const Alternative& alternative, const Candidate& candidate);
  Match MatchSelectors(const ClaimPlan& claim, const Alternative& alternative, const Candidate& candidate);
  const ConsumedCapacity& ConsumedOf(const Alternative& alternative, const PoolDevice& device) const;
  Match CapacityFits(const ClaimPlan& claim, const Alternative& alternative, const Candidate& candidate);

  bool Take(const Position& at, const Candidate& candidate, bool must);
  bool TakeCounters(const Candidate& candidate);
  bool AddToConstraints(const Position& at, const Candidate& candidate);
  std::optional<const api::DeviceAttribute*> AttributeOf(const Alternative& alternative,
                                                         std::string_view name, const Candidate& candidate);
  void GiveBackLast();
  CounterUse& CountersOf(const PoolView& pool);
  bool IsTolerated(const Alternative& alternative, const PoolDevice& device) const;
  void Fail(std::string error) {
    if (!error_) error_ = std::move(error);
  }

  DeviceState& state_;

  // Of the node at hand.
  std::span<const ClaimPlan* const> claims_;
  cluster::NodeRow row_;
  const NodePools* pools_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t steps_max_ = 0;
  std::optional<std::string> error_;
  std::vector<std::size_t> first_slot_;               // by claim and request, one after another
  std::vector<std::size_t> first_request_;            // by claim, into first_slot_
  std::vector<Slot> slots_;                           // by alternative
  std::vector<std::vector<Constraint>> constraints_;  // by claim
  std::vector<TakenDevice> taken_;
  std::vector<bool> took_counters_;                    // as taken_
  std::vector<std::int64_t> results_;                  // by claim
  absl::flat_hash_map<DeviceId, int> marked_;          // devices that are taken whole
  absl::flat_hash_map<DeviceId, Share> shares_;        // and in part
  std::vector<std::unique_ptr<CounterUse>> counters_;  // of the pools that were asked for some
  std::vector<const PoolDevice*> consumers_;           // taken devices with counters
  std::vector<Frame> frames_;
};

}  // namespace berth::dra
