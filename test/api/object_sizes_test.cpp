#include <gtest/gtest.h>

#include "api/node.h"
#include "api/pod_record.h"
#include "api/storage.h"

// Of these a scheduler keeps as many as the cluster has. The bounds are what they take now: a member that
// makes one larger should be worth it.
namespace berth::api {
namespace {

// In a block with a count of its users, which an allocator rounds to 320 bytes.
TEST(ObjectSizes, PodRecord) { EXPECT_LE(sizeof(PodRecord), 304U); }

TEST(ObjectSizes, Node) { EXPECT_LE(sizeof(Node), 416U); }

TEST(ObjectSizes, PersistentVolume) { EXPECT_LE(sizeof(PersistentVolume), 608U); }

TEST(ObjectSizes, PersistentVolumeClaim) { EXPECT_LE(sizeof(PersistentVolumeClaim), 616U); }

}  // namespace
}  // namespace berth::api
