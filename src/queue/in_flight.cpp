#include "queue/in_flight.h"

#include <algorithm>

#include "base/check.h"

namespace berth::queue {

void InFlight::Begin(Pod pod, cluster::PodRecordRef record) {
  std::uint32_t index = static_cast<std::uint32_t>(markers_.size());
  if (free_.empty()) {
    markers_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  const bool is_new = markers_by_pod_.emplace(pod, index).second;
  BERTH_CHECK(is_new);
  markers_[index] = {++last_position_, std::move(record), last_, kNone};
  (last_ == kNone ? first_ : markers_[last_].next) = index;
  last_ = index;
  metrics_.AddInFlight(popped_, 1);
}

void InFlight::Done(Pod pod) {
  const auto found = markers_by_pod_.find(pod);
  if (found == markers_by_pod_.end()) return;
  const std::uint32_t index = found->second;
  markers_by_pod_.erase(found);
  Marker& marker = markers_[index];
  (marker.previous == kNone ? first_ : markers_[marker.previous].next) = marker.next;
  (marker.next == kNone ? last_ : markers_[marker.next].previous) = marker.previous;
  marker.record.reset();
  free_.push_back(index);
  metrics_.AddInFlight(popped_, -1);
  Prune();
}

void InFlight::Prune() {
  while (!events_.empty() && (first_ == kNone || events_.front().position < markers_[first_].position)) {
    metrics_.AddInFlight(*events_.front().matched->label, -1);
    events_.pop_front();
  }
}

void InFlight::Append(const MatchedEvent& matched, EventObjects objects) {
  if (empty()) return;
  metrics_.AddInFlight(*matched.label, 1);
  events_.push_back({++last_position_, &matched, std::move(objects)});
}

void InFlight::Clear() {
  metrics_.AddInFlight(popped_, -static_cast<int>(pod_count()));
  markers_by_pod_.clear();
  markers_.clear();
  free_.clear();
  first_ = last_ = kNone;
  Prune();
}

std::vector<std::string> InFlight::PodUids() const {
  std::vector<std::string> uids;
  for (std::uint32_t at = first_; at != kNone; at = markers_[at].next)
    uids.push_back(markers_[at].record->uid);
  return uids;
}

std::vector<std::string> InFlight::Listing() const {
  std::vector<std::string> listing;
  auto event = events_.begin();
  for (std::uint32_t at = first_; at != kNone; at = markers_[at].next) {
    for (; event != events_.end() && event->position < markers_[at].position; ++event) {
      listing.push_back(event->matched->label->text);
    }
    listing.push_back("@" + markers_[at].record->uid);
  }
  for (; event != events_.end(); ++event) listing.push_back(event->matched->label->text);
  return listing;
}

}  // namespace berth::queue
