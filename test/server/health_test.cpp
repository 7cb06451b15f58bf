#include "server/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using testing::HasSubstr;

class HealthTest : public testing::Test {
 protected:
  HealthTest() {
    health.Add("healthz", "leaderElection", [] { return std::optional<std::string>(); });
    health.Add("livez", "ping", [] { return std::optional<std::string>(); });
    health.Add("readyz", "shutdown", [] { return std::optional<std::string>(); });
    health.Add("readyz", "sched-handler-sync", [this] {
      return synced ? std::optional<std::string>() : "handlers are not fully synchronized";
    });
  }

  HealthChecks health;
  bool synced = true;
};

TEST_F(HealthTest, PassingIsOk) {
  EXPECT_EQ(health.Handle("/healthz", ""), (Answer{200, "ok"}));
  EXPECT_EQ(health.Handle("/readyz/shutdown", ""), (Answer{200, "ok"}));
}

TEST_F(HealthTest, VerboseListsChecks) {  // case 42
  EXPECT_EQ(health.Handle("/healthz", "verbose"),
            (Answer{200, "[+]leaderElection ok\nhealthz check passed\n"}));
  EXPECT_EQ(health.Handle("/healthz/ping", ""), std::nullopt);
}

TEST_F(HealthTest, NotReadyBeforeSync) {  // case 41
  synced = false;
  EXPECT_EQ(
      health.Handle("/readyz", ""),
      (Answer{500, "[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"}));
  EXPECT_EQ(health.Handle("/livez", ""), (Answer{200, "ok"}));
  EXPECT_EQ(health.Handle("/readyz", "exclude=sched-handler-sync")->status, 200);
  EXPECT_EQ(health.Handle("/readyz/sched-handler-sync", ""),
            (Answer{500, "internal server error: handlers are not fully synchronized\n"}));
}

TEST_F(HealthTest, ExcludingWhatIsNotThereIsAWarning) {
  EXPECT_EQ(
      health.Handle("/livez", "verbose&exclude=x&exclude=ping"),
      (Answer{
          200,
          "[+]ping excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nlivez "
          "check passed\n"}));
}

TEST_F(HealthTest, OtherPathsAreNone) {
  EXPECT_EQ(health.Handle("/", ""), std::nullopt);
  EXPECT_EQ(health.Handle("/healthzz", ""), std::nullopt);
  EXPECT_EQ(health.Handle("", ""), std::nullopt);
}

TEST_F(HealthTest, ChecksAreCounted) {
  synced = false;
  health.Handle("/readyz", "");
  health.Handle("/readyz", "");
  const std::string text = health.metrics().Text();
  EXPECT_THAT(text, HasSubstr("kubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "kubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"error\",type=\"readyz\"} 2"));
}

}  // namespace
}  // namespace berth::server
