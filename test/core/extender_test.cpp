#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/fake_api.h"

// Attempts in which programs outside have a say. Numbers are those of the cases of the cycle chapter.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using cycle::ExtenderAnswer;
using cycle::ExtenderCall;
using cycle::ExtenderSpec;
using cycle::ExtenderVerb;
using dispatch::CallType;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kUrl = "http://extender";

SchedulerOptions With(std::vector<ExtenderSpec> extenders) {
  SchedulerOptions options;
  options.extenders = std::move(extenders);
  return options;
}
ExtenderSpec Filtering() {
  return {.url_prefix = std::string(kUrl), .filter_verb = "filter", .node_cache_capable = true};
}
ExtenderSpec Rating(std::int64_t weight = 1) {
  return {.url_prefix = std::string(kUrl),
          .prioritize_verb = "prioritize",
          .weight = weight,
          .node_cache_capable = true};
}
ExtenderSpec Preempting() {
  return {.url_prefix = std::string(kUrl), .preempt_verb = "preempt", .node_cache_capable = true};
}
ExtenderSpec Binder() { return {.url_prefix = std::string(kUrl), .bind_verb = "bind"}; }
ExtenderSpec Ignorable(ExtenderSpec spec) {
  spec.ignorable = true;
  return spec;
}

ExtenderAnswer Names(std::vector<std::string> names) { return {.node_names = std::move(names)}; }
std::vector<std::string> NodesOf(const ExtenderCall& call) {
  std::vector<std::string> names;
  for (const auto& node : call.nodes) names.push_back(node->metadata.name);
  std::ranges::sort(names);
  return names;
}
ExtenderAnswer All(const ExtenderCall& call) { return Names(NodesOf(call)); }

TEST(Extender, SeesTheNodesOnWhichThePodFitsAndItsChoiceStands) {
  FakeApi api(With({Filtering()}));
  std::vector<std::string> shown;
  api.SetExtender([&](const ExtenderCall& call) {
    shown = NodesOf(call);
    return Names({"n3"});
  });
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name, "4"));
  api.Create(Node("small", "500m"));
  api.Create(Pod("web"));
  api.Run(1s);
  EXPECT_THAT(shown, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(api.node_of("web"), "n3");
}

TEST(Extender, IsNotAskedWhenNothingFits) {
  FakeApi api(With({Filtering()}));
  int asked = 0;
  api.SetExtender([&](const ExtenderCall& call) {
    ++asked;
    return All(call);
  });
  api.Create(Node("n1", "1"));
  api.Create(Pod("web", "2"));
  api.Run(1s);
  EXPECT_EQ(asked, 0);
  EXPECT_THAT(api.MessageOf("web"), HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
}

TEST(Extender, Case28AnUnknownNameFailsTheAttempt) {
  FakeApi api(With({Filtering()}));
  api.SetExtender([](const ExtenderCall&) { return Names({"n1", "moon"}); });
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(1s);
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_EQ(api.ReasonOf("web"), "SchedulerError");
  EXPECT_EQ(
      api.MessageOf("web"),
      "extender \"http://extender\" claims a filtered node \"moon\" which is not found in the input node "
      "list");
}

// kube-scheduler takes whole objects as they come and would bind the pod to a node that does not exist.
TEST(Extender, Case28AnUnknownWholeNodeFailsTheAttemptToo) {
  ExtenderSpec spec = Filtering();
  spec.node_cache_capable = false;
  FakeApi api(With({spec}));
  api.SetExtender(
      [](const ExtenderCall&) { return ExtenderAnswer{.nodes = std::vector<std::string>{"moon"}}; });
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(1s);
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_THAT(api.MessageOf("web"), HasSubstr("which is not found in the input node list"));
}

TEST(Extender, Case28AFailureIsTheAttemptsUnlessItIsIgnorable) {
  const auto failing = [](const ExtenderCall&) -> base::Result<ExtenderAnswer> {
    return base::Fail("failed filter with extender at URL http://extender/filter, code 500");
  };
  FakeApi strict(With({Filtering()}));
  strict.SetExtender(failing);
  strict.Create(Node("n1"));
  strict.Create(Pod("web"));
  strict.Run(500ms);
  EXPECT_EQ(strict.node_of("web"), "");
  EXPECT_EQ(strict.ReasonOf("web"), "SchedulerError");
  EXPECT_EQ(strict.MessageOf("web"), "failed filter with extender at URL http://extender/filter, code 500");

  FakeApi lenient(With({Ignorable(Filtering())}));
  lenient.SetExtender(failing);
  lenient.Create(Node("n1"));
  lenient.Create(Pod("web"));
  lenient.Run(500ms);
  EXPECT_EQ(lenient.node_of("web"), "n1");
}

TEST(Extender, TheErrorInAnAnswerIsTheAttempts) {
  FakeApi api(With({Filtering()}));
  api.SetExtender([](const ExtenderCall&) { return ExtenderAnswer{.error = "no licence"}; });
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(500ms);
  EXPECT_EQ(api.MessageOf("web"), "no licence");
}

TEST(Extender, Case29ReasonsAreToldAndTheExtenderIsWhoRefused) {
  FakeApi api(With({Filtering()}));
  api.SetExtender([](const ExtenderCall&) {
    ExtenderAnswer answer = Names({});
    answer.failed = {{"n1", "no licence"}, {"n2", "no licence"}};
    answer.failed_and_unresolvable = {{"n2", "wrong rack"}};
    return answer;
  });
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("low", 1).Node("n1").Cpu("10m"));
  api.Create(Pod("low2", 1).Node("n2").Cpu("10m"));
  api.Create(Pod("web", 10, "10m"));
  api.Run(500ms);
  // In both lists: nothing that could be made room on. On n1 nobody's going would help the extender.
  EXPECT_THAT(api.MessageOf("web"),
              HasSubstr("0/3 nodes are available: 1 no licence, 1 wrong rack. preemption: "));
  EXPECT_THAT(api.MessageOf("web"), HasSubstr("expected at least one victim pod on node \"n1\""));
  const auto& queue = api.scheduler().queue();
  const auto* const params = queue.Find(api.scheduler().cluster().pods().Find("default", "web"));
  ASSERT_NE(params, nullptr);
  std::vector<std::string> rejectors;
  params->rejectors().ForEach([&](queue::PluginId id) { rejectors.emplace_back(queue.plugins().Get(id)); });
  EXPECT_THAT(rejectors, ElementsAre("Extender"));
}

TEST(Extender, Case30OnlyPodsWithAManagedResourceAreShown) {
  ExtenderSpec spec = Filtering();
  spec.managed_resources = {"example.com/foo"};
  api::PodSpec pod;
  EXPECT_FALSE(spec.IsInterestedIn(pod));
  pod.resources.emplace().requests.insert_or_assign("example.com/foo", api::Quantity{});
  EXPECT_FALSE(spec.IsInterestedIn(pod)) << "those of the pod as a whole do not count";
  pod.init_containers.emplace_back().resources.limits.insert_or_assign("example.com/foo", api::Quantity{});
  EXPECT_TRUE(spec.IsInterestedIn(pod));
}

TEST(Extender, APodOfNoInterestDoesNotWait) {
  ExtenderSpec spec = Filtering();
  spec.managed_resources = {"example.com/foo"};
  FakeApi api(With({spec}));
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  EXPECT_THAT(api.questions(), IsEmpty());
  EXPECT_THAT(api.waiting_calls(), SizeIs(1));
}

TEST(Extender, OnesWhoseFailuresCountAreAskedFirstAndEachSeesWhatIsLeft) {
  ExtenderSpec lenient = Ignorable(Filtering());
  FakeApi api(With({lenient, Filtering(), Filtering()}));
  std::vector<std::pair<std::size_t, std::vector<std::string>>> asked;
  api.SetExtender([&](const ExtenderCall& call) {
    asked.emplace_back(call.extender, NodesOf(call));
    std::vector<std::string> names = NodesOf(call);
    names.pop_back();
    return Names(std::move(names));
  });
  for (const char* name : {"n1", "n2", "n3", "n4"}) api.Create(Node(name));
  api.Create(Pod("web"));
  api.Run(500ms);
  ASSERT_THAT(asked, SizeIs(3));
  EXPECT_EQ(asked[0].first, 1);
  EXPECT_EQ(asked[1].first, 2);
  EXPECT_EQ(asked[2].first, 0);
  EXPECT_THAT(asked[2].second, ElementsAre("n1", "n2"));
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST(Extender, WhenNothingIsLeftNobodyElseIsAsked) {
  FakeApi api(With({Filtering(), Filtering()}));
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.questions(), SizeIs(1));
  const ExtenderCall call = api.questions().front();
  api.questions().clear();
  api.Answer(call, Names({}));
  api.Step();
  EXPECT_THAT(api.questions(), IsEmpty());
  EXPECT_FALSE(api.scheduler().is_consulting());
  EXPECT_THAT(api.NotesFor("FailedScheduling"), SizeIs(1));
}

// Case 23: 3 * 10 * 10 + 2 * 1 * 10 = 320 against 3 * 1 * 10 + 2 * 10 * 10 = 230.
TEST(Extender, Case23ScoresAreWeighedAndAddedToThoseOfPlugins) {
  const auto rate = [](std::int64_t first, std::int64_t second) {
    return [=](const ExtenderCall& call) {
      const bool is_first = call.extender == 0;
      return ExtenderAnswer{.scores = {{"n1", is_first ? first : second}, {"n2", is_first ? second : first}}};
    };
  };
  for (const bool swapped : {false, true}) {
    FakeApi api(With({Rating(3), Rating(2)}));
    api.SetExtender(swapped ? rate(1, 10) : rate(10, 1));
    api.Create(Node("n1", "4"));
    api.Create(Node("n2", "4"));
    api.Create(Pod("web"));
    api.Run(500ms);
    EXPECT_EQ(api.node_of("web"), swapped ? "n2" : "n1");
  }
}

TEST(Extender, Case23TwoVotesOfSmallerWeightLoseToNeitherMoreNorLess) {
  // Plugins give 10 points more to n1 or n2 at most here: 90 points of extenders decide either way.
  for (const std::int64_t weight : {1, 2}) {
    FakeApi api(With({Rating(3), Rating(weight)}));
    api.SetExtender([](const ExtenderCall& call) {
      return ExtenderAnswer{
          .scores =
              call.extender == 0
                  ? std::vector<std::pair<std::string, std::int64_t>>{{"n1", 10}, {"n2", 1}, {"moon", 10'000}}
                  : std::vector<std::pair<std::string, std::int64_t>>{{"n1", 1}, {"n2", 10}}};
    });
    api.Create(Node("n1", "4"));
    api.Create(Node("n2", "4"));
    api.Create(Pod("web"));
    api.Run(500ms);
    EXPECT_EQ(api.node_of("web"), "n1");
  }
}

TEST(Extender, OneThatCannotRateGivesNoScore) {
  FakeApi api(With({Rating(), Rating()}));
  api.SetExtender([](const ExtenderCall& call) -> base::Result<ExtenderAnswer> {
    if (call.extender == 0) return base::Fail("out of order");
    return ExtenderAnswer{.scores = {{"n2", 10}}};
  });
  api.Create(Node("n1", "4"));
  api.Create(Node("n2", "4"));
  api.Create(Pod("web"));
  api.Run(500ms);
  EXPECT_EQ(api.node_of("web"), "n2");
}

TEST(Extender, RatersAreAskedAtOnceAndOnlyIfThereIsAChoice) {
  FakeApi api(With({Rating(), Rating()}));
  api.Create(Node("n1", "1"));
  api.Create(Pod("alone"));
  api.Step();
  EXPECT_THAT(api.questions(), IsEmpty());
  api.AnswerAll();
  api.Create(Node("n2", "4"));
  api.Create(Node("n3", "4"));
  api.Create(Pod("web"));
  api.Step();
  EXPECT_THAT(api.questions(), SizeIs(2));
}

TEST(Extender, Case31ABinderBindsInstead) {
  FakeApi api(With({Binder()}));
  std::vector<std::string> bound;
  api.SetExtender([&](const ExtenderCall& call) {
    bound.push_back(call.pod->name + " to " + call.node);
    return ExtenderAnswer{};
  });
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Step();
  api.Step();
  api.AnswerAll();
  EXPECT_THAT(bound, ElementsAre("web to n1"));
  EXPECT_THAT(api.waiting_calls(), IsEmpty()) << "nobody else binds it";
  // The extender has bound it; over the watch everybody hears of it.
  api.Change("web", [](api::PodRecord& pod) { pod.node_name = "n1"; });
  api.Run(1s);
  EXPECT_THAT(api.NotesFor("Scheduled"), ElementsAre("Successfully assigned default/web to n1"));
}

TEST(Extender, Case31AFailedBinderFailsThePodUnlessItIsIgnorable) {
  const auto failing = [](const ExtenderCall&) { return ExtenderAnswer{.error = "no"}; };
  FakeApi strict(With({Binder()}));
  strict.SetExtender(failing);
  strict.Create(Node("n1"));
  strict.Create(Pod("web"));
  strict.Run(500ms);
  EXPECT_EQ(strict.node_of("web"), "");
  EXPECT_EQ(strict.ReasonOf("web"), "SchedulerError");
  EXPECT_EQ(strict.MessageOf("web"), "no");

  FakeApi lenient(With({Ignorable(Binder())}));
  lenient.SetExtender(failing);
  lenient.Create(Node("n1"));
  lenient.Create(Pod("web"));
  lenient.Run(500ms);
  EXPECT_EQ(lenient.node_of("web"), "n1");
}

class ExtenderPreemption : public testing::Test {
 protected:
  void Fill(FakeApi& api) {
    api.Create(Node("n1"));
    api.Create(Node("n2"));
    api.Create(Pod("one", 1).Node("n1"));
    api.Create(Pod("two", 2).Node("n2"));
    api.Create(Pod("high", 10));
  }
};

TEST_F(ExtenderPreemption, ItsNodesAndVictimsAreTaken) {
  FakeApi api(With({Preempting()}));
  std::vector<std::string> shown;
  api.SetExtender([&](const ExtenderCall& call) {
    ExtenderAnswer answer;
    for (const auto& victims : call.victims) {
      shown.push_back(victims.node + ": " + victims.pods.front()->name);
      if (victims.node == "n2") answer.victims.push_back({"n2", {victims.pods.front()->uid}});
    }
    return answer;
  });
  Fill(api);
  api.Run(20s);
  EXPECT_THAT(shown, ElementsAre("n1: one", "n2: two"));
  EXPECT_TRUE(api.exists("one")) << "it would have been chosen: its priority is lower";
  EXPECT_FALSE(api.exists("two"));
  EXPECT_EQ(api.node_of("high"), "n2");
}

TEST_F(ExtenderPreemption, Case32ANodeWithoutVictimsIsAnErrorOrIsDropped) {
  const auto nobody = [](const ExtenderCall&) { return ExtenderAnswer{.victims = {{"n1", {}}}}; };
  FakeApi strict(With({Preempting()}));
  strict.SetExtender(nobody);
  Fill(strict);
  strict.Run(500ms);
  EXPECT_THAT(strict.MessageOf("high"),
              HasSubstr("preemption: expected at least one victim pod on node \"n1\""));
  EXPECT_TRUE(strict.exists("one") && strict.exists("two"));

  FakeApi lenient(With({Ignorable(Preempting())}));
  lenient.SetExtender(nobody);
  Fill(lenient);
  lenient.Run(500ms);
  EXPECT_THAT(lenient.MessageOf("high"), HasSubstr("preemption: no candidate node for preemption"));
  EXPECT_TRUE(lenient.exists("one") && lenient.exists("two"));
}

TEST_F(ExtenderPreemption, AVictimThatIsNotOnTheNodeIsAnError) {
  FakeApi api(With({Preempting()}));
  api.SetExtender([](const ExtenderCall& call) {
    return ExtenderAnswer{.victims = {{"n1", {call.victims[1].pods.front()->uid}}}};
  });
  Fill(api);
  api.Run(500ms);
  EXPECT_THAT(api.MessageOf("high"), HasSubstr("but the pod is not found on that node"));
  EXPECT_TRUE(api.exists("one") && api.exists("two"));
}

TEST_F(ExtenderPreemption, AnUnknownNodeIsAnError) {
  FakeApi api(With({Preempting()}));
  api.SetExtender([](const ExtenderCall&) { return ExtenderAnswer{.victims = {{"moon", {"x"}}}}; });
  Fill(api);
  api.Run(500ms);
  EXPECT_THAT(api.MessageOf("high"), HasSubstr("preemption: nodeinfo not found for node name \"moon\""));
}

TEST_F(ExtenderPreemption, AnIgnorableFailureLeavesTheCandidates) {
  FakeApi api(With({Ignorable(Preempting())}));
  api.SetExtender([](const ExtenderCall&) -> base::Result<ExtenderAnswer> { return base::Fail("asleep"); });
  Fill(api);
  api.Run(20s);
  EXPECT_FALSE(api.exists("one"));
  EXPECT_EQ(api.node_of("high"), "n1");
}

TEST_F(ExtenderPreemption, AVictimThatGoesWhileTheExtenderThinksIsNotEvicted) {
  FakeApi api(With({Preempting()}));
  Fill(api);
  api.Step();
  ASSERT_THAT(api.questions(), SizeIs(1));
  const ExtenderCall call = api.questions().front();
  const std::string uid = call.victims[0].pods.front()->uid;
  api.DeletePod("one");
  api.Step();
  api.Answer(call, ExtenderAnswer{.victims = {{"n1", {uid}}}});
  api.SetExtender(
      [](const ExtenderCall&) -> base::Result<ExtenderAnswer> { return base::Fail("not again"); });
  api.Run(20s);
  EXPECT_TRUE(api.exists("two"));
  EXPECT_EQ(api.node_of("high"), "n1") << "its going is heard of";
}

// What happens between a question and its answer.
class WhileTheExtenderThinks : public testing::Test {
 protected:
  WhileTheExtenderThinks() {
    api_.Create(Node("n1"));
    api_.Create(Node("n2"));
    api_.Create(Pod("web"));
    api_.Step();
    EXPECT_EQ(api_.questions().size(), 1);
    call_ = api_.questions().front();
    api_.questions().clear();
  }

  FakeApi api_{With({Filtering()})};
  ExtenderCall call_;
};

TEST_F(WhileTheExtenderThinks, NoOtherPodIsTried) {
  api_.Create(Pod("other"));
  api_.Step();
  EXPECT_FALSE(api_.scheduler().HasWork());
  EXPECT_THAT(api_.questions(), IsEmpty());
  EXPECT_THAT(api_.waiting_calls(), IsEmpty());
  api_.Answer(call_, All(call_));
  api_.Step();
  EXPECT_THAT(api_.questions(), SizeIs(1)) << "now it is the other's turn";
  EXPECT_EQ(api_.questions().front().pod->name, "other");
}

TEST_F(WhileTheExtenderThinks, ANodeThatGoesIsNotChosen) {
  api_.DeleteNode("n1");
  api_.Step();
  api_.Answer(call_, Names({"n1", "n2"}));
  api_.Run(500ms);
  EXPECT_EQ(api_.node_of("web"), "n2");
}

TEST_F(WhileTheExtenderThinks, ANodeThatFillsUpIsNotChosen) {
  api_.Create(Pod("elsewhere").Node("n1"));
  api_.Step();
  api_.Answer(call_, Names({"n1", "n2"}));
  api_.Run(500ms);
  EXPECT_EQ(api_.node_of("web"), "n2");
}

TEST_F(WhileTheExtenderThinks, ANodeThatComesWasNotShownAndIsNotChosen) {
  api_.Create(Node("n3", "64"));
  api_.Step();
  api_.Answer(call_, Names({"n1"}));
  api_.Run(500ms);
  EXPECT_EQ(api_.node_of("web"), "n1");
}

TEST_F(WhileTheExtenderThinks, TheOnlyNodeLeftMayGoAndTheNewOneIsTriedNext) {
  api_.DeleteNode("n1");
  api_.Create(Node("n3"));
  api_.Step();
  api_.Answer(call_, Names({"n1"}));
  api_.SetExtender([](const ExtenderCall& call) { return All(call); });
  api_.Run(20s);
  EXPECT_NE(api_.node_of("web"), "");
}

TEST_F(WhileTheExtenderThinks, APodThatGoesIsForgotten) {
  api_.DeletePod("web");
  api_.Step();
  api_.Answer(call_, All(call_));
  api_.Run(500ms);
  EXPECT_EQ(api_.scheduler().queue().in_flight().pod_count(), 0);
  EXPECT_THAT(api_.waiting_calls(), IsEmpty());
  EXPECT_FALSE(api_.scheduler().is_consulting());
}

TEST_F(WhileTheExtenderThinks, APodThatSomebodyElseBindsIsLeftAlone) {
  api_.Change("web", [](api::PodRecord& pod) { pod.node_name = "n2"; });
  api_.Step();
  api_.Answer(call_, Names({"n1"}));
  api_.Run(500ms);
  EXPECT_EQ(api_.node_of("web"), "n2");
  EXPECT_THAT(api_.NotesFor("Scheduled"), IsEmpty());
  EXPECT_EQ(api_.scheduler().queue().in_flight().pod_count(), 0);
}

TEST_F(WhileTheExtenderThinks, AnEventThatMayHelpWakesThePodAfterwards) {
  api_.SetExtender([](const ExtenderCall& call) { return All(call); });
  api_.Create(Node("n3"));
  api_.Step();
  api_.Answer(call_, Names({}));
  api_.Run(20s);
  EXPECT_NE(api_.node_of("web"), "") << "the node came while the attempt was under way";
}

TEST(ExtenderNominated, TheNominatedNodeIsShownAloneFirst) {
  FakeApi api(With({Filtering()}));
  std::vector<std::vector<std::string>> shown;
  api.SetExtender([&](const ExtenderCall& call) {
    shown.push_back(NodesOf(call));
    return All(call);
  });
  api.Create(Node("n1", "4"));
  api.Create(Node("n2", "4"));
  api.Create(Pod("web").NominatedNode("n2"));
  api.Run(500ms);
  EXPECT_THAT(shown, ElementsAre(ElementsAre("n2")));
  EXPECT_EQ(api.node_of("web"), "n2");
}

TEST(ExtenderNominated, IfItIsRefusedAllAreShown) {
  FakeApi api(With({Filtering()}));
  std::vector<std::vector<std::string>> shown;
  api.SetExtender([&](const ExtenderCall& call) {
    shown.push_back(NodesOf(call));
    return Names(call.nodes.size() == 1 ? std::vector<std::string>{} : std::vector<std::string>{"n1"});
  });
  api.Create(Node("n1", "4"));
  api.Create(Node("n2", "4"));
  api.Create(Pod("web").NominatedNode("n2"));
  api.Run(500ms);
  EXPECT_THAT(shown, ElementsAre(ElementsAre("n2"), ElementsAre("n1", "n2")));
  EXPECT_EQ(api.node_of("web"), "n1");
}

}  // namespace
}  // namespace berth::core
