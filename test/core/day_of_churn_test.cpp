#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "core/fake_api.h"
#include "core/hold_profile.h"

// Nothing of what comes and goes in a day stays: neither events kept for pods in flight, nor templates,
// nominations, calls that wait, or what was told about held pods.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;

// What is remembered, by name; all of it is zero when no pod is there.
std::map<std::string, std::size_t> Remembered(const Scheduler& scheduler) {
  const cluster::Cluster& cluster = scheduler.cluster();
  return {{"pods", cluster.pods().size()},
          {"in flight", scheduler.queue().in_flight().pod_count()},
          {"events in flight", scheduler.queue().in_flight().event_count()},
          {"nominations", cluster.nominator().node_count()},
          {"calls on their way", scheduler.dispatcher().in_flight_count()},
          {"calls that wait", scheduler.dispatcher().pending_count()},
          {"pods with calls", scheduler.dispatcher().pod_count()},
          {"pods with reports", scheduler.reports().pod_count()},
          {"bindings", scheduler.binding_count()}};
}

class Day {
 public:
  explicit Day(std::uint64_t seed) : random_(seed), api_(test::WithHold()) {
    for (int node = 0; node < 6; ++node) api_.Create(Node("n" + std::to_string(node), "4"));
  }

  // An hour of pods that come, change, wait, are bound, preempted and deleted.
  void Hour() {
    for (int minute = 0; minute < 60; ++minute) {
      for (int i = 0; i < 4; ++i) Create();
      Change();
      for (int i = 0; i < 3; ++i) DeleteAny();
      api_.Run(1min);
    }
  }
  // All pods go; what was under way for them ends.
  void Night() {
    while (!names_.empty()) Delete(*names_.begin());
    api_.Run(1min);
  }
  const Scheduler& scheduler() { return api_.scheduler(); }
  FakeApi& api() { return api_; }
  int created() const { return created_; }

 private:
  int Below(int bound) { return static_cast<int>(random_.Uniform(static_cast<std::uint64_t>(bound))); }

  void Create() {
    const std::string name = "pod" + std::to_string(created_++);
    static constexpr const char* kSizes[] = {"100m", "500m", "1", "2", "8"};
    auto pod = Pod(name, Below(4), kSizes[Below(5)]);
    pod.Label("app", "app" + std::to_string(Below(20) + created_ / 100));
    switch (Below(8)) {
      case 0:
        pod.Annotation(test::kHoldKey, "held " + std::to_string(Below(3)));
        break;
      case 1:
        pod.Annotation(test::kPermitWaitKey, "90s");
        break;
      case 2:
        pod.Annotation(test::kPreBindWaitKey, "45s");
        break;
      case 3:
        pod.NominatedNode("n" + std::to_string(Below(9)));
        break;
      case 4:
        pod.NodeSelector("app", "app" + std::to_string(created_));  // a template of its own
        break;
      default:
        break;
    }
    api_.Create(pod);
    names_.insert(name);
  }
  void Change() {
    Prune();
    if (names_.empty()) return;
    const std::string name = Any();
    const auto held = Pod(name).Annotation(test::kHoldKey, "held " + std::to_string(Below(3))).Record();
    const bool hold = Below(2) == 0;
    api_.Change(name, [&](api::PodRecord& pod) {
      pod.annotations = hold ? held->annotations : base::SharedTextMap();
    });
  }
  std::string Any() { return *std::next(names_.begin(), Below(static_cast<int>(names_.size()))); }
  void DeleteAny() {
    Prune();
    if (!names_.empty()) Delete(Any());
  }
  void Delete(std::string name) {
    if (api_.exists(name)) api_.DeletePod(name);
    names_.erase(name);
  }
  // Some were evicted.
  void Prune() {
    std::erase_if(names_, [&](const std::string& name) { return !api_.exists(name); });
  }

  base::Random random_;
  FakeApi api_;
  std::set<std::string> names_;
  int created_ = 0;
};

TEST(DayOfChurn, LeavesNothingBehind) {
  Day day(20261117);
  std::size_t most = 0;
  for (int hour = 0; hour < 24; ++hour) {
    day.Hour();
    most = std::max(most, Remembered(day.scheduler())["pods"]);
    day.Night();
    for (const auto& [what, count] : Remembered(day.scheduler())) {
      EXPECT_EQ(count, 0u) << what << " after hour " << hour;
    }
    EXPECT_EQ(day.scheduler().queue().Summary(), "activeQ:0; backoffQ:0; unschedulableEntities:0");
    day.api().events().clear();
  }
  EXPECT_GT(day.created(), 5000);
  EXPECT_GT(most, 20u) << "there was something to leave behind";
  for (int node = 0; node < 6; ++node) day.api().DeleteNode("n" + std::to_string(node));
  day.api().Run(1min);
  EXPECT_TRUE(day.scheduler().cluster().IsEmpty()) << "templates, labels, names";
}

}  // namespace
}  // namespace berth::core
