#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "client/api_client.h"

#include "api/lease.h"
#include "base/cancellation.h"
#include "base/random.h"

namespace berth::client {

// Decides by a lease which of several processes works.
//
// Time is this process's own: a lease has run out when its holder has not been seen to change it for as long
// as it says, however old the times in it are. So clocks may differ, and a fresh process waits a whole lease
// before it takes one from a holder that died.
//
// Holding the lease is no fence: a process that was frozen may still believe in it. So what it writes carries
// versions, and a new leader looks at the newest state before its first decision (takeover.h).
class LeaderElector {
 public:
  struct Options {
    std::string identity;  // "<hostname>_<uuid>"
    std::string namespace_ = "kube-system";
    std::string name = "kube-scheduler";
    base::Duration lease_duration = std::chrono::seconds(15);
    base::Duration renew_deadline = std::chrono::seconds(10);
    base::Duration retry_period = std::chrono::seconds(2);
    std::uint64_t seed = 0;
    // "<identity> became leader", "<identity> stopped leading": for an event on the lease.
    std::function<void(const std::string& message)> on_change = {};
  };

  static base::Result<void> Validate(const Options& options);

  LeaderElector(ApiClient& client, Options options);

  // Returns true once the lease is ours, false when the token is cancelled first.
  base::Task<bool> Acquire(base::CancellationToken token);
  // Keeps the lease. Returns when it is lost or the token is cancelled; then nothing that needs leadership
  // may be done any more.
  base::Task<void> Hold(base::CancellationToken token);
  // Lets others take the lease at once.
  base::Task<void> Release();

  bool is_leader() const { return is_leader_; }
  // Who held the lease when it was last looked at.
  std::string observed_holder() const {
    return observed_ ? observed_->spec.holder_identity.value_or("") : "";
  }
  // The lease as it was last seen; nothing before that.
  const std::optional<api::Lease>& observed() const { return observed_; }
  // Whether a lease that we believe to hold has not been renewed for longer than it may.
  bool IsOverdue(base::Duration tolerance) const;
  std::uint64_t slow_path_count() const { return slow_path_count_; }

 private:
  base::Task<bool> Try();
  base::Task<bool> TryWithin(base::Duration limit);
  base::Task<bool> Create();
  base::Task<bool> Update(api::Lease lease);
  base::Task<bool> ReleaseOnce();
  base::Task<ApiResult<api::Lease>> Send(ApiRequest request);

  ApiRequest RequestFor(std::string method) const;
  void Observe(api::Lease lease);
  bool IsHeldByUs() const { return observed_holder() == options_.identity; }
  bool HasRunOut() const;
  api::LeaseSpec OurSpec(api::MicroTime acquired, std::int32_t transitions) const;
  api::MicroTime Now() const;
  void SetLeader(bool is_leader);

  ApiClient& client_;
  base::Executor& executor_;
  const Options options_;
  base::Random random_;
  std::optional<api::Lease> observed_;
  base::TimePoint observed_at_;
  bool is_leader_ = false;
  std::uint64_t slow_path_count_ = 0;
};

}  // namespace berth::client
