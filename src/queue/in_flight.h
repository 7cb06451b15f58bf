#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/ids.h"
#include "cluster/cluster.h"
#include "framework/events.h"
#include "queue/event_map.h"

namespace berth::queue {

// The object of an event, kept alive: an event outlives its call while a pod is being tried.
struct HeldObject {
  framework::EventObject object;
  std::shared_ptr<const void> owner;

  HeldObject() = default;
  template <class T>
  HeldObject(std::shared_ptr<T> held) {
    if (!held) return;
    object = static_cast<const std::remove_const_t<T>*>(held.get());
    owner = std::move(held);
  }
  bool is_null() const { return std::holds_alternative<std::monostate>(object); }
};

struct EventObjects {
  HeldObject old_object;
  HeldObject new_object;
};

// The pods that are being tried, and what happened since each was taken: an event that comes during an
// attempt must not be lost for the pod if the attempt fails.
//
// 1. Events are kept only while at least one pod is in flight, and only those after the oldest of them.
// 2. Positions grow; a pod's events are those with a greater position than its own.
//
// Begin, Done and Append are O(1) amortised.
class InFlight {
 public:
  using Pod = base::Versioned<cluster::PodSlot>;
  struct Event {
    std::uint64_t position;
    const MatchedEvent* matched;
    EventObjects objects;
  };

  explicit InFlight(QueueMetrics& metrics) : metrics_(metrics), popped_(metrics.Label("PodPopped")) {}

  bool empty() const { return markers_by_pod_.empty(); }
  std::size_t pod_count() const { return markers_by_pod_.size(); }
  std::size_t event_count() const { return events_.size(); }
  bool Contains(Pod pod) const { return markers_by_pod_.contains(pod); }

  // The pod must not be in flight. Its record is for those who look on.
  void Begin(Pod pod, cluster::PodRecordRef record);
  // No effect if it is not in flight.
  void Done(Pod pod);
  // No effect if nothing is in flight.
  void Append(const MatchedEvent& matched, EventObjects objects);
  void Clear();

  // Calls visit(event) for each event after the pod was taken, in order, until it returns false. False: the
  // pod is not in flight.
  template <class F>
  bool ForEachSince(Pod pod, F&& visit) const {
    const auto found = markers_by_pod_.find(pod);
    if (found == markers_by_pod_.end()) return false;
    const std::uint64_t position = markers_[found->second].position;
    const auto after = [](std::uint64_t wanted, const Event& event) { return wanted < event.position; };
    for (auto it = std::upper_bound(events_.begin(), events_.end(), position, after); it != events_.end();
         ++it) {
      if (!visit(*it)) break;
    }
    return true;
  }

  // In the order of taking.
  std::vector<std::string> PodUids() const;
  // Both interleaved: "@uid" and the labels of events.
  std::vector<std::string> Listing() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Marker {
    std::uint64_t position = 0;
    cluster::PodRecordRef record;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
  };

  void Prune();

  QueueMetrics& metrics_;
  EventLabel& popped_;
  std::uint64_t last_position_ = 0;
  std::deque<Event> events_;
  std::vector<Marker> markers_;  // a list in the order of taking
  std::vector<std::uint32_t> free_;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
  absl::flat_hash_map<Pod, std::uint32_t> markers_by_pod_;
};

}  // namespace berth::queue
