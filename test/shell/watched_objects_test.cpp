#include "shell/watched_objects.h"

#include <gtest/gtest.h>
#include <memory>

#include "support/builders.h"

namespace berth::shell {
namespace {

using client::ObjectEvent;

TEST(WatchedObjects, AnAddedOrUpdatedPodIsSeen) {
  const auto pod = test::MakePod("web").Record();
  client::EventBatch batch;
  batch.events.push_back({.type = ObjectEvent::Type::kAdd, .object = pod});
  batch.events.push_back({.type = ObjectEvent::Type::kUpdate, .object = pod, .old = pod});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  ASSERT_EQ(inputs.size(), 2);
  EXPECT_EQ(std::get<core::PodSeen>(inputs[0]).pod, pod);
  EXPECT_EQ(std::get<core::PodSeen>(inputs[1]).pod, pod);
}

TEST(WatchedObjects, ADeletedPodIsGoneByItsUid) {
  client::EventBatch batch;
  batch.events.push_back(
      {.type = ObjectEvent::Type::kDelete, .object = test::MakePod("web").Uid("u1").Record()});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  ASSERT_EQ(inputs.size(), 1);
  EXPECT_EQ(std::get<core::PodGone>(inputs[0]).uid, "u1");
}

TEST(WatchedObjects, KindsThatTheCoreDoesNotKnowAreLeftOut) {
  client::EventBatch batch;
  batch.events.push_back(
      {.type = ObjectEvent::Type::kAdd, .object = std::make_shared<const api::StorageClass>()});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  EXPECT_TRUE(inputs.empty());
}

TEST(WatchedObjects, PodsComeLast) { EXPECT_EQ(WatchedResources().back(), client::Resource::kPods); }

}  // namespace
}  // namespace berth::shell
