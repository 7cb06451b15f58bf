#include "base/cancellation.h"

#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace berth::base {
namespace {

TEST(Cancellation, TokenWithoutSourceIsNeverCancelled) {
  bool called = false;
  const CancellationToken token;
  const CancellationCallback callback(token, [&] { called = true; });
  EXPECT_FALSE(token.IsCancelled());
  EXPECT_FALSE(called);
}

TEST(Cancellation, CallbacksRunOnceInTheOrderOfRegistration) {
  CancellationSource source;
  std::string calls;
  const CancellationCallback first(source.token(), [&] { calls += 'a'; });
  const CancellationCallback second(source.token(), [&] { calls += 'b'; });
  source.Cancel();
  source.Cancel();
  EXPECT_EQ(calls, "ab");
  EXPECT_TRUE(source.token().IsCancelled());
}

TEST(Cancellation, CallbackOfACancelledTokenRunsAtOnce) {
  CancellationSource source;
  source.Cancel();
  bool called = false;
  const CancellationCallback callback(source.token(), [&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(Cancellation, DestroyedCallbackDoesNotRun) {
  CancellationSource source;
  bool called = false;
  std::optional<CancellationCallback> callback;
  callback.emplace(source.token(), [&] { called = true; });
  callback.reset();
  source.Cancel();
  EXPECT_FALSE(called);
}

TEST(Cancellation, CallbackMayDestroyItselfAndOthers) {
  CancellationSource source;
  std::string calls;
  std::optional<CancellationCallback> first;
  std::optional<CancellationCallback> second;
  first.emplace(source.token(), [&] {
    calls += 'a';
    second.reset();
    first.reset();
  });
  second.emplace(source.token(), [&] { calls += 'b'; });
  const CancellationCallback third(source.token(), [&] { calls += 'c'; });
  source.Cancel();
  EXPECT_EQ(calls, "ac");
}

TEST(Cancellation, CallbackMayDestroyTheSource) {
  auto source = std::make_unique<CancellationSource>();
  const CancellationToken token = source->token();
  const CancellationCallback callback(token, [&] { source.reset(); });
  source->Cancel();
  EXPECT_TRUE(token.IsCancelled());
}

TEST(Cancellation, ChildFollowsItsParentAndNotTheOtherWayRound) {
  CancellationSource parent;
  CancellationSource child(parent.token());
  CancellationSource sibling(parent.token());
  child.Cancel();
  EXPECT_FALSE(parent.IsCancelled());
  EXPECT_FALSE(sibling.IsCancelled());
  parent.Cancel();
  EXPECT_TRUE(sibling.IsCancelled());
  EXPECT_TRUE(CancellationSource(parent.token()).IsCancelled());
}

}  // namespace
}  // namespace berth::base
