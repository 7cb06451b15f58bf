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
  batch.events.push_back({.object = pod, .type = ObjectEvent::Type::kAdd});
  batch.events.push_back({.object = pod, .old = pod, .type = ObjectEvent::Type::kUpdate});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  ASSERT_EQ(inputs.size(), 2);
  EXPECT_EQ(std::get<core::PodSeen>(inputs[0]).pod, pod);
  EXPECT_EQ(std::get<core::PodSeen>(inputs[1]).pod, pod);
}

TEST(WatchedObjects, ADeletedPodIsGoneByItsUid) {
  client::EventBatch batch;
  batch.events.push_back(
      {.object = test::MakePod("web").Uid("u1").Record(), .type = ObjectEvent::Type::kDelete});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  ASSERT_EQ(inputs.size(), 1);
  EXPECT_EQ(std::get<core::PodGone>(inputs[0]).uid, "u1");
}

TEST(WatchedObjects, OtherKindsAreSeenAndGoneAsObjects) {
  const auto storage_class = std::make_shared<const api::StorageClass>();
  client::EventBatch batch;
  batch.events.push_back({.object = storage_class, .type = ObjectEvent::Type::kAdd});
  batch.events.push_back({.object = storage_class, .type = ObjectEvent::Type::kDelete});
  std::vector<core::Input> inputs;
  AppendInputs(batch, inputs);
  ASSERT_EQ(inputs.size(), 2);
  EXPECT_EQ(std::get<core::ObjectSeen>(inputs[0]).object, cluster::AnyObject(storage_class));
  EXPECT_EQ(std::get<core::ObjectGone>(inputs[1]).object, cluster::AnyObject(storage_class));
}

TEST(WatchedObjects, PodsComeLast) { EXPECT_EQ(WatchedResources().back(), client::Resource::kPods); }

}  // namespace
}  // namespace berth::shell
