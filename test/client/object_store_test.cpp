#include "client/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth::client {
namespace {

using testing::ElementsAre;

ReadObject NodeOf(int number, const std::string& version) {
  api::Node node;
  node.metadata.name = "n" + std::to_string(10'000 + number);
  node.metadata.uid = "u" + std::to_string(number);
  node.metadata.resource_version = version;
  return {.object = std::make_shared<const api::Node>(std::move(node))};
}

std::vector<ReadObject> NodesOf(int count, const std::string& version) {
  std::vector<ReadObject> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(NodeOf(i, version));
  return nodes;
}

class ObjectStoreTest : public testing::Test {
 protected:
  void Replace(std::vector<ReadObject> items) {
    parts_.clear();
    events_.clear();
    store_.Replace(std::move(items), [this](std::vector<ObjectEvent> events) {
      parts_.push_back(events.size());
      for (ObjectEvent& event : events) events_.push_back(std::move(event));
    });
  }

  ObjectStore store_;
  std::vector<std::size_t> parts_;
  std::vector<ObjectEvent> events_;
};

TEST_F(ObjectStoreTest, ALongListComesInParts) {
  Replace(NodesOf(1'300, "1"));
  EXPECT_THAT(parts_, ElementsAre(512, 512, 276));
  EXPECT_EQ(store_.size(), 1'300U);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    EXPECT_EQ(events_[i].type, ObjectEvent::Type::kAdd);
    EXPECT_EQ(IdentityOf(events_[i].object).uid, "u" + std::to_string(i));
  }
}

TEST_F(ObjectStoreTest, DeletionsComeFirstAndWhatIsTheSameIsNoEvent) {
  Replace(NodesOf(1'000, "1"));
  std::vector<ReadObject> items = NodesOf(400, "1");
  items[7] = NodeOf(7, "2");
  Replace(std::move(items));
  ASSERT_EQ(events_.size(), 601U);
  for (std::size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(events_[i].type, ObjectEvent::Type::kDelete);
    EXPECT_TRUE(events_[i].is_final_state_unknown);
    EXPECT_EQ(IdentityOf(events_[i].object).uid, "u" + std::to_string(400 + i));
  }
  EXPECT_EQ(events_[600].type, ObjectEvent::Type::kUpdate);
  EXPECT_EQ(IdentityOf(events_[600].object).resource_version, "2");
  EXPECT_EQ(IdentityOf(events_[600].old).resource_version, "1");
}

TEST_F(ObjectStoreTest, AnEmptyListIsToldToo) {
  Replace({});
  EXPECT_THAT(parts_, ElementsAre(0));
}

}  // namespace
}  // namespace berth::client
