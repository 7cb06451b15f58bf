#include "plugins/example_hold.h"

#include <memory>
#include <string>
#include <variant>

#include "gtest/gtest.h"

#include "framework/decide.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

namespace berth::plugins {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;

const std::string kLabel(ExampleHold::kLabel);

class ExampleHoldTest : public testing::Test {
 protected:
  ExampleHoldTest() {
    const framework::Registry registry = AllPlugins();
    const framework::PluginSetup setup{features_, args_, cluster_};
    const framework::EnabledPlugin enabled[] = {{"ExampleHold", 0}};
    profile_ = *framework::Profile::Make(*framework::ExpandEverywhere(enabled, registry, setup), registry,
                                         setup, rejections_);
    framework::EngineOptions options;
    options.verify_views = true;
    engine_ = std::make_unique<framework::Engine>(cluster_, *profile_, rejections_, options);
  }

  // The node that was chosen, or why there is none.
  std::string Answer(const std::string& namespace_) {
    const auto record = MakePod("pod").Namespace(namespace_).Uid(namespace_).Record();
    const auto outcome = engine_->SchedulePod({.pod = *cluster_.SetPending(record), .step = ++step_});
    if (const auto* decision = std::get_if<framework::Decision>(&outcome)) {
      return std::string(cluster_.nodes().name(decision->row));
    }
    return framework::FitErrorMessage(std::get<framework::Diagnosis>(outcome));
  }

  framework::Hint HintAfter(const api::Node* before, const api::Node& after) {
    const auto pod = *cluster_.SetPending(MakePod("pod").Namespace("a").Uid("a").Record());
    framework::EventObject old_object;
    if (before != nullptr) old_object = before;
    const auto events = ExampleHold({features_, args_, cluster_}).EventsToRegister();
    return *events.at(0).hint({cluster_, pod, old_object, &after});
  }

  const framework::Features features_;
  const framework::PluginArgs args_;
  cluster::Cluster cluster_;
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Engine> engine_;
  std::uint64_t step_ = 0;
};

TEST_F(ExampleHoldTest, HeldNodeTakesPodsOfItsNamespaceOnly) {
  cluster_.SetNode(MakeNode("held").Label(kLabel, "a").Ref());
  EXPECT_EQ(Answer("a"), "held");
  EXPECT_EQ(Answer("b"), "0/1 nodes are available: 1 node(s) were held for another namespace.");
}

TEST_F(ExampleHoldTest, VerdictsFollowTheLabel) {
  cluster_.SetNode(MakeNode("n").Ref());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Answer("b"), "n");
  cluster_.SetNode(MakeNode("n").Label(kLabel, "a").Ref());
  EXPECT_EQ(Answer("b"), "0/1 nodes are available: 1 node(s) were held for another namespace.");
  cluster_.SetNode(MakeNode("n").Label(kLabel, "b").Ref());
  EXPECT_EQ(Answer("b"), "n");
}

TEST_F(ExampleHoldTest, OnlyANodeThatOpensToThePodWakesIt) {
  const api::Node open = MakeNode("n");
  const api::Node held_for_a = MakeNode("n").Label(kLabel, "a");
  const api::Node held_for_b = MakeNode("n").Label(kLabel, "b");
  EXPECT_EQ(HintAfter(nullptr, open), framework::Hint::kQueue);
  EXPECT_EQ(HintAfter(nullptr, held_for_b), framework::Hint::kQueueSkip);
  EXPECT_EQ(HintAfter(&held_for_b, held_for_a), framework::Hint::kQueue);
  EXPECT_EQ(HintAfter(&held_for_b, open), framework::Hint::kQueue);
  EXPECT_EQ(HintAfter(&open, held_for_a), framework::Hint::kQueueSkip);
}

}  // namespace
}  // namespace berth::plugins
