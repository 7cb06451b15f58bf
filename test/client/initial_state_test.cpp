#include "client/initial_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace berth::client {
namespace {

using testing::ElementsAre;

ReadObject Pod(const std::string& namespace_, const std::string& name, const std::string& version = "1") {
  api::PodRecord pod;
  pod.namespace_ = namespace_;
  pod.name = name;
  pod.resource_version = version;
  return {.object = std::make_shared<const api::PodRecord>(std::move(pod))};
}

std::vector<std::string> Names(InitialState& state) {
  std::vector<std::string> names;
  for (const ReadObject& read : state.Take()) {
    const Identity identity = IdentityOf(read.object);
    names.push_back(std::string(identity.namespace_) + "/" + std::string(identity.name) + "@" +
                    std::string(identity.resource_version));
  }
  return names;
}

TEST(InitialState, WhatComesInOrderStaysSo) {
  InitialState state;
  state.Set(Pod("a", "x"));
  state.Set(Pod("a", "y"));
  state.Set(Pod("b", "x"));
  EXPECT_THAT(Names(state), ElementsAre("a/x@1", "a/y@1", "b/x@1"));
  EXPECT_TRUE(state.Take().empty());
}

TEST(InitialState, WhatChangesMeanwhileCountsAsItIsLast) {
  InitialState state;
  state.Set(Pod("a", "x"));
  state.Set(Pod("a", "y"));
  state.Set(Pod("a", "x", "2"));
  state.Remove(Pod("a", "y", "3"));
  state.Set(Pod("a", "b", "4"));
  state.Remove(Pod("a", "never", "5"));
  EXPECT_THAT(Names(state), ElementsAre("a/b@4", "a/x@2"));
}

TEST(InitialState, ADeletedObjectThatCameAgainIsThere) {
  InitialState state;
  state.Set(Pod("a", "x"));
  state.Remove(Pod("a", "x", "2"));
  state.Set(Pod("a", "x", "3"));
  EXPECT_THAT(Names(state), ElementsAre("a/x@3"));
}

TEST(InitialState, NamesAreOrderedAsWholeKeys) {
  const auto before = [](const ReadObject& a, const ReadObject& b) {
    return Identity::ComesBefore(IdentityOf(a.object), IdentityOf(b.object));
  };
  const std::vector<ReadObject> pods = {Pod("a", "x"),  Pod("a-b", "a"), Pod("a0", "a"),
                                        Pod("ab", "a"), Pod("", "a"),    Pod("a", "a")};
  for (const ReadObject& one : pods) {
    for (const ReadObject& other : pods) {
      const Identity a = IdentityOf(one.object);
      const Identity b = IdentityOf(other.object);
      const std::string a_key = std::string(a.namespace_) + "/" + std::string(a.name);
      const std::string b_key = std::string(b.namespace_) + "/" + std::string(b.name);
      EXPECT_EQ(before(one, other), a_key < b_key) << a_key << " and " << b_key;
    }
  }
}

}  // namespace
}  // namespace berth::client
