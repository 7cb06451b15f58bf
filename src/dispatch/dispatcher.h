#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "base/indexed_heap.h"
#include "dispatch/call.h"
#include "dispatch/dispatch_metrics.h"
#include "dispatch/dispatcher_options.h"
#include "dispatch/flight_limit.h"

namespace berth::dispatch {

// Decides which writes to pods are made, and when.
//
// 1. A pod has at most one stored call and one on its way. Calls of one type merge; a more relevant type
// replaces.
// 2. Calls start in the order in which their pods were first added; a delayed one joins the end when it is
// due.
// 3. Every call ends exactly once, through on_finish, after its pod is free for the next one.
//
// It makes no requests: the owner takes calls with Start(), makes them and tells the result. All operations
// cost O(1), those on delayed calls O(log delayed).
class Dispatcher {
 public:
  struct Setup {
    const base::Clock& clock;
    DispatchMetrics& metrics;
  };
  Dispatcher(const DispatcherOptions& options, const Setup& setup)
      : options_(options), setup_(setup), flight_limit_(options.in_flight_max, options.in_flight_most) {}
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Fails, with the reason, if the call is not needed; on_finish has heard it then too. A delayed call that
  // meets one that is stored keeps the earlier time; one that is not delayed makes both due at once.
  base::Result<CallId> Add(Call call, base::Duration delay = {});

  struct Started {
    CallId id;
    const Call* call;        // until Finish
    std::string nomination;  // of the pod as far as it is known: what a patch starts from
    bool needs_request;      // false: nothing would change any more; finish it at once
  };
  // Nothing: none is due, or too many are on their way.
  std::optional<Started> Start();
  // Without effect: the request was made, and there was nothing left to do.
  void Finish(CallId id, const base::Result<void>& result, bool had_effect = true);

  // The pod changed: stored patches start from how it is now, and go if they have no effect any more.
  void Sync(const cluster::PodRecordRef& pod);
  // The pod is gone: nothing is to be written any more. A call on its way goes on.
  void Forget(std::string_view uid);
  // The pod is bound, by us or by others: only its deletion is still worth a request.
  void OnBound(std::string_view uid);

  // The nominated node that the pod's status will say when all its calls are made. Nothing: as it is.
  std::optional<std::string_view> NominationOnItsWay(std::string_view uid) const;

  // When a delayed call becomes due.
  std::optional<base::TimePoint> NextDeadline() const;

  // For those who look on.
  // ----------------------------------------------------------------------------------------------------------------
  std::size_t pending_count() const { return pending_count_; }
  // Of the pending ones those that could start: too many are on their way.
  std::size_t due_count() const { return due_.size(); }
  std::size_t in_flight_count() const { return in_flight_count_; }
  // Pods that the dispatcher remembers anything of.
  std::size_t pod_count() const { return by_uid_.size(); }
  struct Listed {
    std::string uid;
    CallId id;
    const Call* call;  // the stored one, or else the one on its way
    bool in_flight;
  };
  std::vector<std::string> Queue() const;  // uids, in order; without delayed ones
  std::vector<Listed> List() const;        // by uid

 private:
  struct Stored {
    CallId id;
    Call call;
    std::optional<base::TimePoint> due = std::nullopt;  // nothing: at once
  };
  struct Entry;
  using Fifo = std::list<Entry*>;
  enum class Filed : std::uint8_t { kNowhere, kDue, kDelayed };
  // What is known of one pod.
  //
  // 1. A stored call is filed unless another one of the pod is on its way.
  // 2. There is an entry for a pod only while there is something in it.
  struct Entry {
    std::string uid;
    std::unique_ptr<Stored> stored = nullptr;
    std::unique_ptr<Stored> in_flight = nullptr;
    std::vector<std::unique_ptr<Stored>> behind = {};  // one by one: what comes after the stored one
    base::TimePoint started = {};
    Filed filed = Filed::kNowhere;
    Fifo::iterator place = {};      // if due
    base::HeapHandle delayed = {};  // if delayed
    // What was written last and is not seen yet on the pod.
    std::optional<std::string> written_nomination = std::nullopt;
    // The pod went while a call of it was on its way: what that call wrote is of no interest any more.
    bool is_forgotten = false;
  };
  struct Delayed {
    base::TimePoint due;
    std::uint64_t sequence;
    Entry* entry;

    bool operator<(const Delayed& other) const {
      return due != other.due ? due < other.due : sequence < other.sequence;
    }
  };

  Entry& EntryOf(std::string_view uid);
  const std::string& Nomination(const Entry& entry, const Call& call) const;
  bool IsNoOp(const Entry& entry, const Call& call) const;
  static Stored* Current(const Entry& entry);
  bool TakeOver(Entry& entry, Stored& added) const;
  std::unique_ptr<Stored> Replace(Entry& entry, std::unique_ptr<Stored> added);
  std::unique_ptr<Stored> TakeStored(Entry& entry);
  void File(Entry& entry);
  void Unfile(Entry& entry);
  // The next of those that wait behind, if the pod is free for it.
  void Advance(Entry& entry);
  void EraseIfIdle(Entry& entry);
  void MoveDue();

  const DispatcherOptions options_;
  const Setup setup_;
  FlightLimit flight_limit_;
  absl::flat_hash_map<std::string_view, std::unique_ptr<Entry>>
      by_uid_;  // keys are views of the entries' uids
  Fifo due_;
  base::IndexedHeap<Delayed> delayed_;
  absl::flat_hash_map<CallId, Entry*> by_id_;  // of calls on their way
  std::uint64_t next_sequence_ = 0;
  std::uint32_t next_id_ = 0;
  std::size_t pending_count_ = 0;
  std::size_t in_flight_count_ = 0;
};

}  // namespace berth::dispatch
