#include "api/node_parts.h"

#include <gtest/gtest.h>
#include <string>

#include "support/builders.h"

namespace berth::api {
namespace {

Node NodeOf(const std::string& name, const std::string& memory) {
  Node node = test::MakeNode(name).Allocatable("memory", memory).Image("registry/image", 5).Feature("F");
  node.status.conditions.Edit() = {{"Ready", "True"}};
  return node;
}

TEST(NodeParts, NodesThatAreAlikeHaveOneOfEverything) {
  NodeParts parts;
  Node a = NodeOf("a", "64Gi");
  Node b = NodeOf("b", "64Gi");
  parts.Share(a);
  parts.Share(b);
  EXPECT_EQ(a, NodeOf("a", "64Gi"));
  EXPECT_EQ(b, NodeOf("b", "64Gi"));
  EXPECT_TRUE(a.status.allocatable.IsSame(b.status.allocatable));
  EXPECT_TRUE(a.status.conditions.IsSame(b.status.conditions));
  EXPECT_TRUE(a.status.declared_features.IsSame(b.status.declared_features));
  EXPECT_TRUE(a.status.images[0].IsSame(b.status.images[0]));
}

TEST(NodeParts, WhatDiffersStaysApart) {
  NodeParts parts;
  Node a = NodeOf("a", "64Gi");
  Node b = NodeOf("b", "65Gi");
  b.status.images.emplace_back(ContainerImage{{"other"}, 5});
  parts.Share(a);
  parts.Share(b);
  EXPECT_NE(a.status.allocatable, b.status.allocatable);
  EXPECT_FALSE(b.status.images[0].IsSame(b.status.images[1]));
  EXPECT_TRUE(a.status.images[0].IsSame(b.status.images[0]));
}

TEST(NodeParts, AChangeOfOneLeavesTheOthers) {
  NodeParts parts;
  Node a = NodeOf("a", "64Gi");
  Node b = NodeOf("b", "64Gi");
  parts.Share(a);
  parts.Share(b);
  b.status.conditions.Edit()[0].status = "False";
  EXPECT_EQ(a, NodeOf("a", "64Gi"));
  Node c = NodeOf("c", "64Gi");
  parts.Share(c);
  EXPECT_EQ(c, NodeOf("c", "64Gi"));
}

TEST(NodeParts, NothingIsSharedAsNothing) {
  NodeParts parts;
  Node node;
  node.status.conditions.Edit();
  parts.Share(node);
  EXPECT_TRUE(node.status.conditions.IsSame({}));
  EXPECT_EQ(node, Node());
}

}  // namespace
}  // namespace berth::api
