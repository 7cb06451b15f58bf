#include "client/leader_elector.h"

#include <algorithm>
#include <utility>

#include "client/deadline.h"
#include "client/retry.h"
#include "fmt/format.h"

#include "base/log.h"

namespace berth::client {
namespace {

constexpr double kJitterFactor = 1.2;

std::int64_t Seconds(std::optional<api::MicroTime> time) {
  return time ? time->unix_micros / 1'000'000 : api::Time::kZeroSeconds;
}

// What counts as a change of the lease; times only by the second.
bool SameRecord(const api::LeaseSpec& a, const api::LeaseSpec& b) {
  return a.holder_identity.value_or("") == b.holder_identity.value_or("") &&
         a.lease_duration_seconds.value_or(0) == b.lease_duration_seconds.value_or(0) &&
         a.lease_transitions.value_or(0) == b.lease_transitions.value_or(0) &&
         Seconds(a.acquire_time) == Seconds(b.acquire_time) &&
         Seconds(a.renew_time) == Seconds(b.renew_time) && a.strategy == b.strategy &&
         a.preferred_holder == b.preferred_holder;
}

}  // namespace

base::Result<void> LeaderElector::Validate(const Options& options) {
  constexpr std::string_view kPrefix = "couldn't create leader elector: ";
  const auto fail = [&](std::string_view why) { return base::Fail(fmt::format("{}{}", kPrefix, why)); };
  const auto jittered = base::Duration(
      static_cast<std::int64_t>(static_cast<double>(options.retry_period.count()) * kJitterFactor));
  if (options.lease_duration <= options.renew_deadline) {
    return fail("leaseDuration must be greater than renewDeadline");
  }
  if (options.renew_deadline <= jittered)
    return fail("renewDeadline must be greater than retryPeriod*JitterFactor");
  if (options.lease_duration < base::Duration(1)) return fail("leaseDuration must be greater than zero");
  if (options.renew_deadline < base::Duration(1)) return fail("renewDeadline must be greater than zero");
  if (options.retry_period < base::Duration(1)) return fail("retryPeriod must be greater than zero");
  return {};
}

LeaderElector::LeaderElector(ApiClient& client, Options options)
    : client_(client), executor_(client.executor()), options_(std::move(options)), random_(options_.seed) {}

api::MicroTime LeaderElector::Now() const {
  return {.unix_micros = std::chrono::duration_cast<std::chrono::microseconds>(
                             executor_.clock().WallNow().time_since_epoch())
                             .count()};
}

void LeaderElector::SetLeader(bool is_leader) {
  if (is_leader_ == is_leader) return;
  is_leader_ = is_leader;
  if (options_.on_change) {
    options_.on_change(options_.identity + (is_leader ? " became leader" : " stopped leading"));
  }
}

void LeaderElector::Observe(api::Lease lease) {
  observed_ = std::move(lease);
  observed_at_ = executor_.clock().Now();
}

bool LeaderElector::HasRunOut() const {
  return executor_.clock().Now() >=
         observed_at_ + std::chrono::seconds(observed_->spec.lease_duration_seconds.value_or(0));
}

bool LeaderElector::IsOverdue(base::Duration tolerance) const {
  return is_leader_ && executor_.clock().Now() > observed_at_ + options_.lease_duration + tolerance;
}

api::LeaseSpec LeaderElector::OurSpec(api::MicroTime acquired, std::int32_t transitions) const {
  api::LeaseSpec spec;
  spec.holder_identity = options_.identity;
  spec.lease_duration_seconds = static_cast<std::int32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration).count());
  spec.acquire_time = acquired;
  spec.renew_time = Now();
  spec.lease_transitions = transitions;
  return spec;
}

ApiRequest LeaderElector::RequestFor(std::string method) const {
  const bool is_create = method == "POST";
  return {
      .method = std::move(method),
      .path = is_create ? CollectionPath(kLeases, options_.namespace_)
                        : ObjectPath(kLeases, options_.namespace_, options_.name),
      .subject = {.method = "", .resource = QualifiedName(kLeases), .name = is_create ? "" : options_.name}};
}

base::Task<ApiResult<api::Lease>> LeaderElector::Send(ApiRequest request) {
  const auto response = co_await client_.Send(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return DecodeObject<api::Lease>(*response);
}

base::Task<bool> LeaderElector::Create() {
  api::Lease lease;
  lease.metadata.name = options_.name;
  lease.metadata.namespace_ = options_.namespace_;
  lease.spec = OurSpec(Now(), 0);
  ApiRequest request = RequestFor("POST");
  SetBody(request, lease);
  auto created = co_await Send(std::move(request));
  if (!created) {
    BERTH_LOG_ERROR(created.error().message, "Error initially creating lease lock");
    co_return false;
  }
  Observe(std::move(*created));
  co_return true;
}

base::Task<bool> LeaderElector::Update(api::Lease lease) {
  ApiRequest request = RequestFor("PUT");
  SetBody(request, lease);
  auto updated = co_await Send(std::move(request));
  if (!updated) {
    BERTH_LOG(2, "Failed to update lease", {"err", updated.error().message});
    co_return false;
  }
  Observe(std::move(*updated));
  co_return true;
}

base::Task<bool> LeaderElector::Try() {
  if (observed_ && IsHeldByUs() && !HasRunOut()) {
    api::Lease lease = *observed_;
    lease.spec.renew_time = Now();
    const bool renewed = co_await Update(std::move(lease));
    if (renewed) co_return true;
  }
  auto lease = co_await Send(RequestFor("GET"));
  if (!lease) {
    if (IsNotFound(lease.error())) co_return co_await Create();
    BERTH_LOG_ERROR(lease.error().message, "Error retrieving lease lock", {"lock", options_.name});
    co_return false;
  }
  if (!observed_ || !SameRecord(observed_->spec, lease->spec)) {
    Observe(*lease);
  } else {
    observed_->metadata = lease->metadata;  // the version to update, without counting as a sign of life
  }
  const std::string holder = lease->spec.holder_identity.value_or("");
  if (!holder.empty() && holder != options_.identity && !HasRunOut()) {
    BERTH_LOG(4, "Lease is held by another and has not yet expired", {"holder", holder});
    co_return false;
  }
  const std::int32_t transitions = lease->spec.lease_transitions.value_or(0);
  if (holder == options_.identity) {
    ++slow_path_count_;
    lease->spec = OurSpec(lease->spec.acquire_time.value_or(Now()), transitions);
  } else {
    lease->spec = OurSpec(Now(), transitions + 1);
  }
  co_return co_await Update(std::move(*lease));
}

// A try that hangs is given up: leadership must end in time even if the server does not answer.
base::Task<bool> LeaderElector::TryWithin(base::Duration limit) {
  const std::optional<bool> outcome = co_await RunWithin(executor_, limit, Try());
  co_return outcome.value_or(false);
}

base::Task<bool> LeaderElector::Acquire(base::CancellationToken token) {
  const std::string lock = options_.namespace_ + "/" + options_.name;
  BERTH_LOG(0, "Attempting to acquire leader lease...", {"lock", lock});
  while (!token.IsCancelled()) {
    const bool won = co_await TryWithin(options_.renew_deadline);
    if (won) {
      BERTH_LOG(0, "Successfully acquired lease", {"lock", lock});
      SetLeader(true);
      co_return true;
    }
    const double scale = 1 + kJitterFactor * random_.UniformReal();
    const auto pause =
        base::Duration(static_cast<std::int64_t>(static_cast<double>(options_.retry_period.count()) * scale));
    co_await executor_.SleepFor(pause, token);
  }
  co_return false;
}

base::Task<void> LeaderElector::Hold(base::CancellationToken token) {
  base::TimePoint deadline = executor_.clock().Now() + options_.renew_deadline;
  while (true) {
    const base::WaitResult slept = co_await executor_.SleepFor(options_.retry_period, token);
    if (slept == base::WaitResult::kCancelled) break;
    const base::TimePoint now = executor_.clock().Now();
    bool renewed = false;
    if (now < deadline) renewed = co_await TryWithin(deadline - now);
    if (renewed) {
      deadline = executor_.clock().Now() + options_.renew_deadline;
    } else if (executor_.clock().Now() + options_.retry_period >= deadline) {
      // The next try would come too late: stop while the lease is surely still ours.
      co_await executor_.SleepUntil(deadline, token);
      BERTH_LOG(0, "Failed to renew lease", {"lock", options_.name});
      break;
    }
  }
  SetLeader(false);
}

base::Task<bool> LeaderElector::ReleaseOnce() {
  for (int attempt = 1;; ++attempt) {
    auto lease = co_await Send(RequestFor("GET"));
    if (!lease || lease->spec.holder_identity.value_or("") != options_.identity) co_return false;
    const api::MicroTime now = Now();
    lease->spec.holder_identity = "";
    lease->spec.lease_duration_seconds = 1;
    lease->spec.acquire_time = now;
    lease->spec.renew_time = now;
    ApiRequest request = RequestFor("PUT");
    SetBody(request, *lease);
    auto released = co_await Send(std::move(request));
    if (released) {
      Observe(std::move(*released));
      co_return true;
    }
    const auto delay = RetryDelay(kConflictRetry, attempt, released.error(), random_);
    if (!delay) co_return false;
    co_await executor_.SleepFor(*delay);
  }
}

base::Task<void> LeaderElector::Release() {
  if (!observed_ || !IsHeldByUs()) co_return;
  SetLeader(false);
  const auto released = co_await RunWithin(executor_, options_.renew_deadline, ReleaseOnce());
  if (!released.value_or(false)) BERTH_LOG_ERROR(nullptr, "Failed to release lease", {"lock", options_.name});
}

}  // namespace berth::client
