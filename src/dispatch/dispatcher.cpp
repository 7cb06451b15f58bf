#include "dispatch/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "dispatch/status_change.h"

namespace berth::dispatch {
namespace {

constexpr std::string_view kLessRelevant =
    "a more relevant call is already enqueued for this object: call skipped";
constexpr std::string_view kReplaced = "a more relevant call was enqueued for this object: call overwritten";
constexpr std::string_view kMerged = "a call of the same type was enqueued for this object: call overwritten";
constexpr std::string_view kNoEffect =
    "call does not need to be executed because it has no effect: call skipped";
constexpr std::string_view kNoEffectAfterSync =
    "call does not need to be executed because after sync it has no effect: call skipped";
constexpr std::string_view kNothingLeft = "the call had no effect: there was nothing left to do";
constexpr std::string_view kForgotten = "the pod is gone or bound: call cancelled";

void Tell(Call& call, CallEnd end, std::string_view message) {
  if (call.on_finish) call.on_finish({.end = end, .message = std::string(message)});
}

// The owner of the older call hears the end of the newer one, too.
void TellBoth(Call& call, Call& older) {
  if (!older.on_finish) return;
  call.on_finish = [first = std::exchange(older.on_finish, nullptr),
                    second = std::move(call.on_finish)](const CallOutcome& outcome) mutable {
    first(outcome);
    if (second) second(outcome);
  };
}

// What only the older call says is kept; an event goes with the condition that it tells of. True: something
// of the older call lives on in the newer one.
bool Merge(Call& call, const Call& older) {
  const api::PodStatusChange before = call.change;
  const bool had_scheduled = FindCondition(before, api::kPodScheduled) != nullptr;
  AddOlder(call.change, older.change);
  const bool took_scheduled = !had_scheduled && FindCondition(call.change, api::kPodScheduled) != nullptr;
  if (took_scheduled && !call.event) call.event = older.event;
  return call.change != before;
}

}  // namespace

Dispatcher::Entry& Dispatcher::EntryOf(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  if (found != by_uid_.end()) return *found->second;
  auto entry = std::make_unique<Entry>();
  entry->uid = uid;
  const std::string_view key = entry->uid;
  return *by_uid_.emplace(key, std::move(entry)).first->second;
}

Dispatcher::Stored* Dispatcher::Current(const Entry& entry) {
  return entry.stored ? entry.stored.get() : entry.in_flight.get();
}

const std::string& Dispatcher::Nomination(const Entry& entry, const Call& call) const {
  // Of the two values that the pod may have, the one that a patch still has to change.
  if (entry.written_nomination && call.change.nominated_node_name != *entry.written_nomination) {
    return *entry.written_nomination;
  }
  return call.pod->nominated_node_name;
}

bool Dispatcher::IsNoOp(const Entry& entry, const Call& call) const {
  return call.type == CallType::kPodStatusPatch &&
         !HasEffect(call.change, *call.pod, Nomination(entry, call));
}

// What the new call keeps of the one that is there. Of two delayed calls the earlier time stands, so that a
// pod that is rejected again and again is reported all the same. True: the old call lives on in the new one,
// and its owner is to hear how that ends.
bool Dispatcher::TakeOver(Entry& entry, Stored& added) const {
  Stored& old = *Current(entry);
  if (old.call.type != added.call.type) return false;
  const bool is_stored = &old == entry.stored.get();
  // The event of a call that is on its way is out already.
  if (!is_stored) old.call.event.reset();
  const bool lives_on = Merge(added.call, old.call);
  if (!is_stored) return false;
  added.due = old.due && added.due ? std::optional(std::min(*old.due, *added.due)) : std::nullopt;
  return lives_on && !options_.upstream_rules;
}

std::unique_ptr<Dispatcher::Stored> Dispatcher::TakeStored(Entry& entry) {
  Unfile(entry);
  return std::move(entry.stored);
}

// Gives what was stored before. A call that is due keeps the place of the one that was due before it.
std::unique_ptr<Dispatcher::Stored> Dispatcher::Replace(Entry& entry, std::unique_ptr<Stored> added) {
  if (entry.filed == Filed::kDue && !added->due) {
    setup_.metrics.AddPending(entry.stored->call.type, -1);
    setup_.metrics.AddPending(added->call.type, 1);
    return std::exchange(entry.stored, std::move(added));
  }
  std::unique_ptr<Stored> replaced = TakeStored(entry);
  entry.stored = std::move(added);
  if (!entry.in_flight) File(entry);
  return replaced;
}

base::Result<CallId> Dispatcher::Add(Call call, base::Duration delay) {
  Entry& entry = EntryOf(call.pod->uid);
  entry.is_forgotten = false;
  auto added = std::make_unique<Stored>(Stored{.id = CallId(next_id_++), .call = std::move(call)});
  if (delay > base::Duration::zero()) added->due = setup_.clock.Now() + delay;

  Stored* const old = Current(entry);
  if (options_.one_by_one && old != nullptr) {
    const CallId behind = added->id;
    entry.behind.push_back(std::move(added));
    ++pending_count_;
    setup_.metrics.AddPending(entry.behind.back()->call.type, 1);
    return behind;
  }
  const bool is_merge = old != nullptr && old->call.type == added->call.type;
  if (old != nullptr) {
    if (added->call.type < old->call.type) {
      Tell(added->call, CallEnd::kSkipped, kLessRelevant);
      return base::Fail(std::string(kLessRelevant));
    }
    if (TakeOver(entry, *added)) TellBoth(added->call, old->call);
    const bool is_on_its_way = old == entry.in_flight.get();
    if (options_.upstream_rules && is_merge && is_on_its_way) Tell(old->call, CallEnd::kOverwritten, kMerged);
    if (options_.upstream_rules && !is_merge && entry.in_flight && !is_on_its_way)
      old->call.on_finish = nullptr;
  }
  const bool is_skipped = !entry.in_flight && IsNoOp(entry, added->call);
  const CallId id = added->id;
  std::unique_ptr<Stored> skipped;
  std::unique_ptr<Stored> replaced;
  if (is_skipped) {
    replaced = TakeStored(entry);
    skipped = std::move(added);
    EraseIfIdle(entry);
  } else {
    replaced = Replace(entry, std::move(added));
  }
  // Last, because the owners may add calls.
  if (replaced) Tell(replaced->call, CallEnd::kOverwritten, is_merge ? kMerged : kReplaced);
  if (skipped) {
    Tell(skipped->call, CallEnd::kSkipped, kNoEffect);
    return base::Fail(std::string(kNoEffect));
  }
  return id;
}

std::optional<Dispatcher::Started> Dispatcher::Start() {
  MoveDue();
  if (due_.empty()) return std::nullopt;
  if (!flight_limit_.Allows(in_flight_count_)) return std::nullopt;
  Entry& entry = *due_.front();
  entry.in_flight = TakeStored(entry);
  entry.started = setup_.clock.Now();
  ++in_flight_count_;
  const Stored& started = *entry.in_flight;
  by_id_.emplace(started.id, &entry);
  return Started{.id = started.id,
                 .call = &started.call,
                 .nomination = Nomination(entry, started.call),
                 .needs_request = !IsNoOp(entry, started.call)};
}

void Dispatcher::Finish(CallId id, const base::Result<void>& result, bool had_effect) {
  const auto found = by_id_.find(id);
  BERTH_CHECK(found != by_id_.end());
  Entry& entry = *found->second;
  by_id_.erase(found);
  --in_flight_count_;
  const std::unique_ptr<Stored> finished = std::move(entry.in_flight);
  Call& call = finished->call;
  const base::TimePoint now = setup_.clock.Now();
  setup_.metrics.ObserveExecution(call.type, result.has_value(),
                                  std::chrono::duration<double>(now - entry.started).count());
  flight_limit_.Answered(now, !due_.empty());

  if (result && call.type != CallType::kPodStatusPatch) entry.written_nomination.reset();
  if (result && call.change.nominated_node_name && !options_.upstream_rules && !entry.is_forgotten) {
    entry.written_nomination = call.change.nominated_node_name;
  }
  if (entry.stored) File(entry);
  Advance(entry);
  EraseIfIdle(entry);
  if (result && !had_effect) {
    Tell(call, CallEnd::kSkipped, kNothingLeft);
  } else {
    Tell(call, result ? CallEnd::kSucceeded : CallEnd::kFailed, result ? "" : result.error().message);
  }
}

void Dispatcher::Sync(const cluster::PodRecordRef& pod) {
  const auto found = by_uid_.find(pod->uid);
  if (found == by_uid_.end()) return;
  Entry& entry = *found->second;
  if (entry.written_nomination == pod->nominated_node_name) entry.written_nomination.reset();
  if (entry.stored) entry.stored->call.pod = pod;
  for (const auto& later : entry.behind) later->call.pod = pod;
  std::unique_ptr<Stored> unneeded;
  if (entry.stored && !entry.in_flight && IsNoOp(entry, entry.stored->call)) unneeded = TakeStored(entry);
  Advance(entry);
  EraseIfIdle(entry);
  if (unneeded) Tell(unneeded->call, CallEnd::kSkipped, kNoEffectAfterSync);
}

void Dispatcher::Forget(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  Entry& entry = *found->second;
  entry.written_nomination.reset();
  entry.is_forgotten = true;
  std::vector<std::unique_ptr<Stored>> cancelled = std::exchange(entry.behind, {});
  for (const auto& later : cancelled) setup_.metrics.AddPending(later->call.type, -1);
  pending_count_ -= cancelled.size();
  if (entry.stored) cancelled.insert(cancelled.begin(), TakeStored(entry));
  EraseIfIdle(entry);
  for (const auto& call : cancelled) Tell(call->call, CallEnd::kCancelled, kForgotten);
}

void Dispatcher::OnBound(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  const Entry& entry = *found->second;
  const auto deletes = [](const auto& stored) {
    return stored && stored->call.type == CallType::kPodDeletion;
  };
  if (deletes(entry.stored) || std::ranges::any_of(entry.behind, deletes)) return;
  Forget(uid);
}

std::optional<std::string_view> Dispatcher::NominationOnItsWay(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return std::nullopt;
  const Entry& entry = *found->second;
  std::optional<std::string_view> last;
  const auto read = [&](const std::unique_ptr<Stored>& one) {
    if (one && one->call.change.nominated_node_name) last = *one->call.change.nominated_node_name;
  };
  read(entry.in_flight);
  read(entry.stored);
  for (const auto& later : entry.behind) read(later);
  return last;
}

std::optional<base::TimePoint> Dispatcher::NextDeadline() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.Top().due;
}

void Dispatcher::MoveDue() {
  const base::TimePoint now = setup_.clock.Now();
  while (!delayed_.empty() && delayed_.Top().due <= now) {
    Entry& entry = *delayed_.Pop().entry;
    entry.stored->due.reset();
    entry.filed = Filed::kDue;
    entry.place = due_.insert(due_.end(), &entry);
  }
}

void Dispatcher::File(Entry& entry) {
  setup_.metrics.AddPending(entry.stored->call.type, 1);
  ++pending_count_;
  if (entry.stored->due) {
    entry.filed = Filed::kDelayed;
    entry.delayed = delayed_.Push({*entry.stored->due, next_sequence_++, &entry});
  } else {
    entry.filed = Filed::kDue;
    entry.place = due_.insert(due_.end(), &entry);
  }
}

void Dispatcher::Unfile(Entry& entry) {
  if (entry.filed == Filed::kNowhere) return;
  setup_.metrics.AddPending(entry.stored->call.type, -1);
  --pending_count_;
  if (entry.filed == Filed::kDue) due_.erase(entry.place);
  if (entry.filed == Filed::kDelayed) delayed_.Remove(entry.delayed);
  entry.filed = Filed::kNowhere;
}

void Dispatcher::Advance(Entry& entry) {
  if (entry.stored || entry.in_flight || entry.behind.empty()) return;
  entry.stored = std::move(entry.behind.front());
  entry.behind.erase(entry.behind.begin());
  setup_.metrics.AddPending(entry.stored->call.type, -1);
  --pending_count_;
  File(entry);
}

void Dispatcher::EraseIfIdle(Entry& entry) {
  if (!entry.stored && !entry.in_flight && !entry.written_nomination) by_uid_.erase(by_uid_.find(entry.uid));
}

std::vector<std::string> Dispatcher::Queue() const {
  std::vector<std::string> uids;
  for (const Entry* const entry : due_) uids.push_back(entry->uid);
  return uids;
}

std::vector<Dispatcher::Listed> Dispatcher::List() const {
  std::vector<Listed> listed;
  // house: hash-order: sorted below
  for (const auto& [uid, entry] : by_uid_) {
    const Stored* const current = Current(*entry);
    if (current == nullptr) continue;
    listed.push_back({std::string(uid), current->id, &current->call, entry->in_flight != nullptr});
  }
  std::ranges::sort(listed, {}, &Listed::uid);
  return listed;
}

}  // namespace berth::dispatch
