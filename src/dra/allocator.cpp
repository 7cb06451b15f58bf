#include "dra/allocator.h"

#include <algorithm>

#include "fmt/format.h"

#include "base/check.h"

namespace berth::dra {

Outcome Allocator::Allocate(std::span<const ClaimPlan* const> claims, cluster::NodeRow row,
                            std::uint64_t steps_max) {
  Begin(claims, row, steps_max);
  if (pools_->error) return {Verdict::kError, *pools_->error};
  Answer answer = Answer::kStop;
  if (Prepare()) answer = Search();
  if (error_) return {Verdict::kError, *std::move(error_)};
  if (answer == Answer::kYes) return {Verdict::kFound, {}};
  if (answer == Answer::kStop) return {Verdict::kTimedOut, {}};
  return {pools_->has_invalid ? Verdict::kInvalidPools : Verdict::kNone, {}};
}

void Allocator::Begin(std::span<const ClaimPlan* const> claims, cluster::NodeRow row,
                      std::uint64_t steps_max) {
  claims_ = claims;
  row_ = row;
  pools_ = &state_.pools().Of(row);
  steps_ = 0;
  steps_max_ = steps_max;
  error_.reset();
  first_slot_.clear();
  first_request_.clear();
  slots_.clear();
  constraints_.clear();
  taken_.clear();
  took_counters_.clear();
  results_.assign(claims.size(), 0);
  marked_.clear();
  shares_.clear();
  counters_.clear();
  consumers_.clear();
  frames_.clear();
}

// Validates the claims and settles how many devices each request needs here. False: error_ says why not.
bool Allocator::Prepare() {
  for (const ClaimPlan* claim : claims_) {
    first_request_.push_back(first_slot_.size());
    std::int64_t before = 0;
    for (const PlannedRequest& request : claim->requests) {
      first_slot_.push_back(slots_.size());
      if (request.error) Fail(*request.error);
      std::optional<std::int64_t> fewest;
      for (const Alternative& alternative : request.alternatives) {
        if (error_) return false;
        const std::optional<std::int64_t> needed = PrepareAlternative(*claim, alternative);
        if (!needed) return false;
        fewest = fewest ? std::min(*fewest, *needed) : *needed;
      }
      if (fewest.value_or(0) > kDevicesPerClaimMax - before) {
        Fail(fmt::format(
            "claim {}, request {}: adding {} devices exceeds the claim limit of {}, with {} already "
            "accounted for",
            claim->name, request.name, *fewest, kDevicesPerClaimMax, before));
      }
      if (error_) return false;
      before += fewest.value_or(0);
    }
    if (claim->constraint_error) Fail(*claim->constraint_error);
    if (error_) return false;
    std::vector<Constraint>& constraints = constraints_.emplace_back();
    for (const api::DeviceConstraint& constraint : claim->constraints()) {
      constraints.emplace_back(constraint, state_.gates().list_type_attributes);
    }
  }
  return true;
}

std::optional<std::int64_t> Allocator::PrepareAlternative(const ClaimPlan& claim,
                                                          const Alternative& alternative) {
  Slot& slot = slots_.emplace_back();
  slot.alternative = &alternative;
  slot.needed = alternative.count;
  if (alternative.error) {
    Fail(*alternative.error);
    return std::nullopt;
  }
  if (!alternative.all) return slot.needed;
  if (!SelectAll(claim, slot)) return std::nullopt;
  slot.needed = static_cast<std::int64_t>(slot.all.size());
  return slot.needed;
}

bool Allocator::SelectAll(const ClaimPlan& claim, Slot& slot) {
  const Alternative& alternative = *slot.alternative;
  for (const PoolView* pool : pools_->pools) {
    if (pool->state != PoolView::State::kUsable) {
      const bool incomplete = pool->state == PoolView::State::kIncomplete;
      Fail(fmt::format("claim {}, request {}: asks for all devices, but resource pool {}/{} is currently {}",
                       claim.name, alternative.name, pool->driver, pool->pool,
                       incomplete ? "being updated" : "invalid"));
      return false;
    }
    for (const PoolDevice& device : pool->devices) {
      const Candidate candidate{pool, &device};
      const Match match = Selectable(claim, alternative, candidate);
      if (match == Match::kError) return false;
      if (match == Match::kNo) continue;
      if (state_.gates().consumable_capacity) {
        const ConsumedCapacity& consumed = ConsumedOf(alternative, device);
        if (consumed.error) {
          Fail(fmt::format("claim {}, request {}: checking capacity for device {}: {}", claim.name,
                           alternative.name, device.name(), *consumed.error));
          return false;
        }
        if (!consumed.fits) continue;
      }
      slot.all.push_back(candidate);
    }
  }
  return true;
}

const Alternative& Allocator::AlternativeAt(const Position& at) const { return *SlotAt(at).alternative; }

const Allocator::Slot& Allocator::SlotAt(const Position& at) const {
  return slots_[first_slot_[first_request_[at.claim] + at.request] + at.alternative.value_or(0)];
}

// One step down after the other until a point where there is a choice, or the end.
Allocator::Answer Allocator::Search() {
  Position position;
  Answer answer = Descend(position);
  while (true) {
    if (answer == Answer::kYes || answer == Answer::kStop) return answer;
    if (frames_.empty()) return answer;
    if (Resume(frames_.back(), answer, position)) {
      answer = Descend(position);
    } else {
      frames_.pop_back();
    }
  }
}

Allocator::Answer Allocator::Descend(Position& position) {
  while (true) {
    if (steps_++ >= steps_max_) return Answer::kStop;
    if (position.claim == claims_.size()) return Answer::kYes;
    const std::vector<PlannedRequest>& requests = claims_[position.claim]->requests;
    if (position.request == requests.size()) {
      frames_.push_back({.level = Level::kClaimEnd, .at = position, .next = {}, .failed = {}});
      position = {.claim = position.claim + 1, .request = 0, .alternative = {}, .device = 0, .start = {}};
      continue;
    }
    if (requests[position.request].prioritized && !position.alternative) {
      frames_.push_back({.level = Level::kAlternatives, .at = position, .next = {}, .failed = {}});
      position.alternative = 0;
      continue;
    }
    const Slot& slot = SlotAt(position);
    if (slot.alternative->all && slot.all.empty()) return Answer::kNo;
    if (position.device >= slot.needed) {
      position = {.claim = position.claim,
                  .request = position.request + 1,
                  .alternative = {},
                  .device = 0,
                  .start = {}};
      continue;
    }
    if (results_[position.claim] + slot.needed - position.device > kDevicesPerClaimMax) return Answer::kLimit;
    const Level level = slot.alternative->all ? Level::kAll : Level::kDevice;
    frames_.push_back({.level = level, .at = position, .next = position.start, .failed = {}});
    const Answer answer = TakeNext(frames_.back(), position);
    if (answer != Answer::kYes) {
      frames_.pop_back();
      return answer;
    }
  }
}

// Takes the next device that the frame has not tried, and moves the position behind it. kNo: there is none.
Allocator::Answer Allocator::TakeNext(Frame& frame, Position& position) {
  const Position at = frame.at;
  const ClaimPlan& claim = *claims_[at.claim];
  const Slot& slot = SlotAt(at);
  const Alternative& alternative = *slot.alternative;
  const auto go_on = [&](Cursor start) {
    position = at;
    ++position.device;
    position.start = start;
    return Answer::kYes;
  };
  if (frame.level == Level::kAll) {
    if (Take(at, slot.all[static_cast<std::size_t>(at.device)], /*must=*/true)) return go_on({});
    return error_ ? Answer::kStop : Answer::kNo;
  }
  const bool skips_alike = MayFailAlike(frame);
  for (Cursor& next = frame.next; next.pool < pools_->pools.size(); next = {next.pool + 1, 0}) {
    const PoolView& pool = *pools_->pools[next.pool];
    if (pool.state != PoolView::State::kUsable) continue;
    for (; next.device < pool.devices.size(); ++next.device) {
      if (steps_++ >= steps_max_) return Answer::kStop;
      const Candidate candidate{&pool, &pool.devices[next.device]};
      const PoolDevice& device = *candidate.device;
      if (IsInUse(device, at)) continue;
      if (skips_alike && !IsMulti(device) &&
          std::ranges::find(frame.failed, device.kind) != frame.failed.end())
        continue;
      const Match selected = Selectable(claim, alternative, candidate);
      if (selected == Match::kError) return Answer::kStop;
      if (selected == Match::kNo) continue;
      const Match fits = CapacityFits(claim, alternative, candidate);
      if (fits == Match::kError) return Answer::kStop;
      if (fits == Match::kNo) continue;
      const bool taken = Take(at, candidate, /*must=*/false);
      if (error_) return Answer::kStop;
      if (!taken) continue;
      frame.last_kind = IsMulti(device) ? KindId() : device.kind;
      ++next.device;
      return go_on(next);
    }
  }
  return Answer::kNo;
}

bool Allocator::Resume(Frame& frame, Answer& answer, Position& position) {
  switch (frame.level) {
    case Level::kClaimEnd:
      answer = Answer::kNo;
      return false;
    case Level::kAlternatives: {
      frame.said_no = frame.said_no || answer == Answer::kNo;
      const std::uint32_t next = frame.at.alternative.value_or(0) + 1;
      frame.at.alternative = next;
      if (next < claims_[frame.at.claim]->requests[frame.at.request].alternatives.size()) {
        position = frame.at;
        return true;
      }
      answer = frame.said_no ? Answer::kNo : Answer::kLimit;
      return false;
    }
    case Level::kAll:
      GiveBackLast();
      return false;
    case Level::kDevice:
      break;
  }
  GiveBackLast();
  if (answer == Answer::kLimit) return false;
  if (frame.last_kind.IsValid() && MayFailAlike(frame)) frame.failed.push_back(frame.last_kind);
  answer = HasEnoughLeft(frame) ? TakeNext(frame, position) : Answer::kNo;
  return answer == Answer::kYes;
}

// An administrator's request may take devices that others have: then two of a kind are not the same.
bool Allocator::MayFailAlike(const Frame& frame) const { return !AlternativeAt(frame.at).admin; }

// After a failure every device that is free was looked at once, so nothing is evaluated here that upstream
// would not evaluate.
bool Allocator::HasEnoughLeft(const Frame& frame) const {
  const Slot& slot = SlotAt(frame.at);
  std::int64_t missing = slot.needed - frame.at.device;
  Cursor next = frame.next;
  for (; next.pool < pools_->pools.size() && missing > 0; next = {next.pool + 1, 0}) {
    const PoolView& pool = *pools_->pools[next.pool];
    if (pool.state != PoolView::State::kUsable) continue;
    for (; next.device < pool.devices.size() && missing > 0; ++next.device) {
      const PoolDevice& device = pool.devices[next.device];
      if (!slot.alternative->admin && state_.devices().use(device.id).dedicated > 0) continue;
      const std::vector<Match>& selected = slot.alternative->selected;
      if (device.shape.index() < selected.size() && selected[device.shape.index()] == Match::kNo) continue;
      --missing;
    }
  }
  return missing <= 0;
}

}  // namespace berth::dra
