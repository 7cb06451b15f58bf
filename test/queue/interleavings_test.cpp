#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "queue/queue_harness.h"

// Case 70 of the queue's specification, and what is left of 62 and 63. The queue has one thread, so that
// updates cannot race with attempts inside it; but they may come between any two steps of an attempt, and all
// orders are tried.
namespace berth::queue::test {
namespace {

// What the pod is expected to be between the steps.
struct Story {
  QueueHarness q{{{.name = "fit",
                   .wishes = {{.event = kTargetPodUpdate,
                               .hint = [](const framework::HintInput& input) -> base::Result<Hint> {
                                 const auto* pod = std::get<const api::PodRecord*>(input.new_object);
                                 return pod->uid == input.record().uid ? Hint::kQueue : Hint::kQueueSkip;
                               }}}}}};
  bool in_flight = false;
  bool updated_in_flight = false;
  int version = 0;
  std::string told;  // the order, for who reads a failure

  void Update() {
    told += "update ";
    updated_in_flight |= in_flight;
    q.Update(MakePod("a").Label("version", std::to_string(++version)));
    Check();
  }
  void Pop() {
    told += "pop ";
    const std::string popped = q.Pop();
    // An update may have brought it back already; otherwise it waits for one.
    if (popped.empty()) return Check();
    EXPECT_EQ(popped, "a") << told;
    in_flight = true;
    updated_in_flight = false;
    Check();
  }
  void Reject() {
    told += "reject ";
    if (!in_flight) return;
    q.Reject("a", {"fit"});
    EXPECT_EQ(q.error, "") << told;
    in_flight = false;
    EXPECT_EQ(q.Where("a"), updated_in_flight ? Place::kBackoff : Place::kUnschedulable)
        << told << ": an update during the attempt must not be lost, and none must be made up";
    Check();
  }
  void Done() {
    told += "done ";
    if (!in_flight) return;
    q.Done("a");
    in_flight = false;
  }
  void Check() {
    std::size_t places = 0;
    for (const Place place : {Place::kActive, Place::kBackoff, Place::kErrorBackoff, Place::kUnschedulable})
      places += q.List(place).size();
    EXPECT_EQ(places, in_flight ? 0u : 1u) << told;
    if (in_flight) return;
    const auto& labels = q.cluster.pods().record(q.Slot("a")).labels;
    if (version > 0) {
      EXPECT_EQ(labels.find("version"), std::to_string(version)) << told;
    }
  }
};

using Steps = std::vector<void (Story::*)()>;

// Every order that keeps that of each side; calls with each.
void ForEachOrder(const Steps& left, const Steps& right, const std::function<void(const Steps&)>& visit) {
  std::vector<bool> from_right(left.size() + right.size(), false);
  std::fill(from_right.end() - static_cast<std::ptrdiff_t>(right.size()), from_right.end(), true);
  do {
    Steps order;
    std::size_t at_left = 0, at_right = 0;
    for (const bool right_next : from_right)
      order.push_back(right_next ? right[at_right++] : left[at_left++]);
    visit(order);
  } while (std::next_permutation(from_right.begin(), from_right.end()));
}

TEST(Interleavings, Case70NoUpdateIsLostAndNoPodIsTwice) {
  const Steps updates(4, &Story::Update);
  const Steps attempts = {&Story::Pop,    &Story::Reject, &Story::Pop,
                          &Story::Reject, &Story::Pop,    &Story::Done};
  int orders = 0;
  ForEachOrder(updates, attempts, [&](const Steps& order) {
    Story story;
    story.q.Add(MakePod("a"));
    for (const auto step : order) (story.*step)();
    ++orders;
    // Whatever happened, nothing is kept for an attempt that is over.
    story.Done();
    EXPECT_TRUE(story.q.queue->in_flight().empty()) << story.told;
    EXPECT_EQ(story.q.queue->in_flight().event_count(), 0u) << story.told;
  });
  EXPECT_EQ(orders, 210);
}

std::vector<std::string> NominatedTo(const QueueHarness& q, std::string_view node) {
  std::vector<std::string> names;
  q.cluster.nominator().ForEachNode([&](cluster::NodeNameId id, std::span<const cluster::PodSlot> pods) {
    if (q.cluster.nodes().NameText(id) != node) return;
    for (const cluster::PodSlot pod : pods) names.push_back(q.cluster.pods().record(pod).name);
  });
  return names;
}
using Texts = std::vector<std::string>;

TEST(Nominations, Case62OnlyAPodThatWaitsIsNominatedAndNeverToNoNode) {
  QueueHarness q;
  q.Add(MakePod("a"));
  EXPECT_TRUE(q.cluster.nominator().empty()) << "neither the status nor anybody else names a node";
  q.cluster.Nominate(q.Slot("a"), "n1");
  EXPECT_EQ(NominatedTo(q, "n1"), Texts{"a"});
  q.cluster.Nominate(q.Slot("a"), "");
  EXPECT_TRUE(q.cluster.nominator().empty());
  q.cluster.Nominate(q.Slot("a"), "n1");
  ASSERT_TRUE(q.cluster.Assume(q.Slot("a"), "n2"));
  EXPECT_TRUE(q.cluster.nominator().empty()) << "it has a node";
  q.cluster.Nominate(q.Slot("a"), "n1");
  EXPECT_TRUE(q.cluster.nominator().empty());
}

TEST(Nominations, Case62AnUpdateWithoutANameKeepsTheNodeInMemoryAndItsPlaceInLineMoves) {
  QueueHarness q;
  q.Add(MakePod("a"));
  q.Add(MakePod("b").NominatedNode("n1"));
  q.cluster.Nominate(q.Slot("a"), "n1");
  EXPECT_EQ(NominatedTo(q, "n1"), (Texts{"b", "a"}));
  q.Update(MakePod("b").NominatedNode("n1").Label("x", ""));
  EXPECT_EQ(NominatedTo(q, "n1"), (Texts{"a", "b"}));
  q.Update(MakePod("a").Label("x", ""));
  EXPECT_EQ(NominatedTo(q, "n1"), (Texts{"b", "a"}));
}

// kube-scheduler forgets requests and priority of a nominated pod while it is being tried; here they count.
TEST(Nominations, Case63ANominationSurvivesTheAttempt) {
  QueueHarness q;
  q.Add(MakePod("a").Priority(7).Cpu("2").NominatedNode("n1"));
  EXPECT_EQ(q.Pop(), "a");
  ASSERT_EQ(NominatedTo(q, "n1"), Texts{"a"});
  EXPECT_EQ(q.cluster.pods().priority(q.Slot("a")), 7);
  EXPECT_EQ(NominatedTo(q, "elsewhere"), Texts{});
}

}  // namespace
}  // namespace berth::queue::test
