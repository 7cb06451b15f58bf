#include "client/leader_elector.h"

#include <string>
#include <vector>

#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;

// A server with one lease, which checks versions as a real one does.
class LeaderElectorTest : public ClientTest {
 protected:
  LeaderElectorTest() {
    server_.fallback = [this](const SeenRequest& request) { return Serve(request); };
  }

  std::optional<Answer> Serve(const SeenRequest& request) {
    if (is_down_) return Broken(net::ErrorKind::kRefused);
    if (is_silent_) return std::nullopt;
    if (request.method == "GET") {
      if (!lease_) return Failure(404, "NotFound");
      return Json(200, wire::EncodeJson(*lease_));
    }
    auto sent = *wire::DecodeProtobuf<api::Lease>(wire::ParseEnvelope(request.body)->raw);
    if (request.method == "POST") {
      if (lease_) return Failure(409, "AlreadyExists");
    } else if (!lease_ || sent.metadata.resource_version != lease_->metadata.resource_version) {
      return Failure(409, "Conflict");
    }
    sent.metadata.resource_version = std::to_string(++version_);
    lease_ = sent;
    return Json(200, wire::EncodeJson(sent));
  }
  // As another process would write it.
  void WriteLease(const std::string& holder, std::int64_t renewed_micros, std::int32_t transitions = 4) {
    api::Lease lease;
    lease.metadata.name = "kube-scheduler";
    lease.metadata.namespace_ = "kube-system";
    lease.metadata.resource_version = std::to_string(++version_);
    lease.spec.holder_identity = holder;
    lease.spec.lease_duration_seconds = 15;
    lease.spec.renew_time = api::MicroTime{.unix_micros = renewed_micros};
    lease.spec.lease_transitions = transitions;
    lease_ = lease;
  }
  LeaderElector& Elector() {
    return Make<LeaderElector>(
        client_, LeaderElector::Options{.identity = "me",
                                        .on_change = [this](const auto& text) { changes_.push_back(text); }});
  }
  LeaderElector& Leader() {
    LeaderElector& elector = Elector();
    Start(elector.Acquire({}));
    EXPECT_TRUE(elector.is_leader());
    return elector;
  }
  void Hold(LeaderElector& elector) { StartForGood(elector.Hold(stop_.token())); }

  std::optional<api::Lease> lease_;
  std::uint64_t version_ = 100;
  bool is_down_ = false;
  bool is_silent_ = false;
  base::CancellationSource stop_;
  std::vector<std::string> changes_;
};

// Case 51 of the operations chapter.
TEST_F(LeaderElectorTest, MissingLeaseIsCreated) {
  LeaderElector& elector = Elector();
  const auto acquired = Start(elector.Acquire({}));
  ASSERT_TRUE(acquired->has_value());
  EXPECT_TRUE(**acquired);
  EXPECT_EQ(*lease_->spec.holder_identity, "me");
  EXPECT_EQ(*lease_->spec.lease_transitions, 0);
  EXPECT_EQ(*lease_->spec.lease_duration_seconds, 15);
  EXPECT_THAT(changes_, testing::ElementsAre("me became leader"));
  EXPECT_EQ(server_.seen[1].target, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
}

// Case 40.
TEST_F(LeaderElectorTest, Case40StaleUpdateTakesTheSlowPathAndALostRaceIsNoLeadership) {
  LeaderElector& elector = Leader();
  lease_->metadata.resource_version = std::to_string(++version_);  // somebody labelled it
  Hold(elector);
  const std::size_t before = server_.seen.size();
  Advance(2s);
  ASSERT_EQ(server_.seen.size(), before + 3);
  EXPECT_EQ(server_.seen[before].method, "PUT");
  EXPECT_EQ(server_.seen[before + 1].method, "GET");
  EXPECT_EQ(server_.seen[before + 2].method, "PUT");
  EXPECT_EQ(elector.slow_path_count(), 1U);
  EXPECT_TRUE(elector.is_leader());
}

TEST_F(LeaderElectorTest, Case40CreationThatLosesTheRaceIsNoLeadership) {
  AddReply(Failure(404, "NotFound"));
  AddReply(Failure(409, "AlreadyExists"));
  WriteLease("other", 0);
  LeaderElector& elector = Elector();
  Start(elector.Acquire({}));
  EXPECT_FALSE(elector.is_leader());
  EXPECT_EQ(server_.seen.size(), 2U);
}

// Case 51 of the operations chapter.
TEST_F(LeaderElectorTest, LeaseOfADeadHolderIsTakenAWholeLeaseAfterItWasFirstSeen) {
  WriteLease("dead", 1);  // renewed in 1970
  LeaderElector& elector = Elector();
  Start(elector.Acquire({}));
  Advance(14999ms);
  EXPECT_FALSE(elector.is_leader());
  Advance(5s);
  EXPECT_TRUE(elector.is_leader());
  EXPECT_EQ(*lease_->spec.lease_transitions, 5);
}

// Case 52 of the operations chapter.
TEST_F(LeaderElectorTest, LeaseOfALivingHolderIsNeverTakenWhateverItsClock) {
  LeaderElector& elector = Elector();
  WriteLease("alive", 0);
  Start(elector.Acquire({}));
  for (int i = 1; i < 100; ++i) {
    WriteLease("alive", -3'600'000'000LL + i * 2'000'000LL);
    Advance(2s);
  }
  EXPECT_FALSE(elector.is_leader());
}

// Case 52 of the operations chapter.
TEST_F(LeaderElectorTest, ReleasedLeaseIsTakenAtTheNextTry) {
  WriteLease("", 0);
  LeaderElector& elector = Elector();
  const auto acquired = Start(elector.Acquire({}));
  EXPECT_TRUE(acquired->has_value());
  EXPECT_TRUE(elector.is_leader());
}

// Case 53 of the operations chapter.
TEST_F(LeaderElectorTest, LeadershipEndsAtTheRenewDeadlineWhenTheServerIsDownOrSilent) {
  for (const bool silent : {false, true}) {
    SCOPED_TRACE(silent);
    is_down_ = is_silent_ = false;
    lease_.reset();
    LeaderElector& elector = Leader();
    Hold(elector);
    Advance(2s);
    (silent ? is_silent_ : is_down_) = true;
    Advance(9999ms);
    EXPECT_TRUE(elector.is_leader());
    Advance(1ms);
    EXPECT_FALSE(elector.is_leader());
    EXPECT_EQ(changes_.back(), "me stopped leading");
  }
}

TEST_F(LeaderElectorTest, AShortOutageIsSurvived) {
  LeaderElector& elector = Leader();
  Hold(elector);
  is_down_ = true;
  Advance(7s);
  is_down_ = false;
  Advance(1min);
  EXPECT_TRUE(elector.is_leader());
  EXPECT_FALSE(elector.IsOverdue(20s));
}

// Case 54 of the operations chapter.
TEST_F(LeaderElectorTest, ReleaseLetsOthersInAndRetriesAConflict) {
  LeaderElector& elector = Leader();
  AddReply(Json(200, wire::EncodeJson(*lease_)));
  AddReply(Failure(409, "Conflict"));
  StartForGood(elector.Release());
  Advance(1s);
  EXPECT_EQ(*lease_->spec.holder_identity, "");
  EXPECT_EQ(*lease_->spec.lease_duration_seconds, 1);
  EXPECT_FALSE(elector.is_leader());
}

// Case 54 of the operations chapter.
TEST_F(LeaderElectorTest, StandbyLeavesTheLeaseAlone) {
  WriteLease("other", 0);
  LeaderElector& elector = Elector();
  const auto acquired = Start(elector.Acquire(stop_.token()));
  stop_.Cancel();
  RunReady();
  ASSERT_TRUE(acquired->has_value());
  EXPECT_FALSE(**acquired);
  const std::size_t before = server_.seen.size();
  StartForGood(elector.Release());
  EXPECT_EQ(server_.seen.size(), before);
}

// Case 13 of the operations chapter.
TEST(LeaderElectionOptions, AreChecked) {
  const auto check = [](base::Duration lease, base::Duration renew, base::Duration retry) {
    const auto valid = LeaderElector::Validate(
        {.identity = "me", .lease_duration = lease, .renew_deadline = renew, .retry_period = retry});
    return valid ? std::string() : valid.error().message;
  };
  EXPECT_EQ(check(15s, 10s, 2s), "");
  EXPECT_EQ(check(5s, 10s, 2s),
            "couldn't create leader elector: leaseDuration must be greater than renewDeadline");
  EXPECT_EQ(check(15s, 2s, 2s),
            "couldn't create leader elector: renewDeadline must be greater than retryPeriod*JitterFactor");
}

}  // namespace
}  // namespace berth::client
