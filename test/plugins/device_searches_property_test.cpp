#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dra/allocator.h"
#include "dra/claim_plan.h"
#include "plugins/device_harness.h"

// What was found for pods that ask for the same is kept from attempt to attempt. Whatever happens in between,
// it says what a search of its own would.
namespace berth::plugins {
namespace {

using berth::test::DeviceHarness;
using berth::test::MakeNode;
using berth::test::MakePod;
using dra::test::Alternatively;
using dra::test::MakeClaim;
using dra::test::MakeClass;
using dra::test::MakeDevice;
using dra::test::MakeSlice;

const std::vector<std::string> kDeviceNodes = {"n1", "n2", "n3"};
constexpr int kClaimKinds = 4;

int DrawBetween(int low, int high) { return *rc::gen::inRange(low, high + 1); }

api::ResourceClaim ClaimOfKind(const std::string& name, int kind) {
  dra::test::ClaimBuilder claim = MakeClaim(name);
  if (kind == 0) {
    claim.Request("r");
  } else if (kind == 1) {
    claim.Request("r", {.count = 2});
  } else if (kind == 2) {
    claim.Request("r", {.selector = "device.attributes[\"drvA\"].size == 2"});
  } else {
    claim.FirstAvailable("r", {Alternatively("two", {.count = 2}), Alternatively("one", {})});
  }
  return claim;
}

class DeviceHistory {
 public:
  DeviceHistory() {
    for (const std::string& node : kDeviceNodes) harness_.Add(api::Node(MakeNode(node)));
    harness_.Add(MakeClass("A", "drvA"));
    for (int kind = 0; kind < kClaimKinds; ++kind) harness_.Add(ClaimOfKind(NameOf(kind), kind));
  }

  void Act() {
    switch (DrawBetween(0, 6)) {
      case 0:
      case 1:
        Offer(kDeviceNodes[static_cast<std::size_t>(DrawBetween(0, 2))]);
        break;
      case 2:
        Offer("");
        break;
      case 3:
        harness_.Add(MakeClass("A", DrawBetween(0, 3) == 0 ? "drvB" : "drvA"));
        break;
      case 4:
        Free();
        break;
      default:
        Take();
        break;
    }
  }

  void Check() {
    for (int kind = 0; kind < kClaimKinds; ++kind) {
      std::set<std::string> fitting;
      for (const auto& [node, score] : harness_.Scores(PodFor(NameOf(kind)))) fitting.insert(node);
      RC_ASSERT(fitting == Searched(kind));
      // From a view, which follows the devices, once the kind was asked for twice.
      const std::string node = harness_.Schedule(PodFor(NameOf(kind)));
      RC_ASSERT((fitting.empty() ? !IsNode(node) : fitting.contains(node)));
    }
    // Another pod that shares a claim goes where its devices are.
    for (const auto& [claim, node] : taken_) {
      const dra::ClaimRef taken = harness_.state().claims().Find("default", claim);
      const std::string there = harness_.Schedule(PodFor(claim));
      RC_ASSERT((taken->status.allocation->node_selector ? there == node : IsNode(there)));
    }
  }

 private:
  static bool IsNode(const std::string& name) {
    return std::ranges::find(kDeviceNodes, name) != kDeviceNodes.end();
  }
  static std::string NameOf(int kind) { return "kind-" + std::to_string(kind); }
  static berth::test::PodBuilder PodFor(const std::string& claim) {
    return MakePod("pod-" + claim).SchedulerName("default-scheduler").ResourceClaim("entry", claim);
  }

  // A pool of the node, or of all of them, is another one now.
  void Offer(const std::string& node) {
    std::vector<api::Device> devices;
    for (int i = DrawBetween(0, 3); i > 0; --i) {
      devices.push_back(MakeDevice("d" + std::to_string(i)).Int("size", DrawBetween(1, 2)));
    }
    dra::test::SliceBuilder slice = MakeSlice("slice-" + node, "pool-" + node, std::move(devices));
    slice.Generation(++generation_);
    if (!node.empty()) slice.OnNode(node);
    harness_.Add(api::ResourceSlice(slice));
  }

  void Take() {
    const std::string name = "taken-" + std::to_string(++names_);
    harness_.Add(ClaimOfKind(name, DrawBetween(0, kClaimKinds - 1)));
    const std::string node = harness_.Schedule(PodFor(name));
    if (!IsNode(node)) return;
    RC_ASSERT(harness_.Reserve(PodFor(name), node) == "");
    if (DrawBetween(0, 2) == 0) {
      harness_.Unreserve();
      return;
    }
    RC_ASSERT(harness_.PreBind() == "");
    taken_.emplace_back(name, node);
  }

  void Free() {
    if (taken_.empty()) return;
    harness_.cluster().objects().Of<api::ResourceClaim>().Remove("default", taken_.back().first);
    taken_.pop_back();
  }

  std::set<std::string> Searched(int kind) {
    dra::DeviceState& state = harness_.state();
    state.selectors().BeginAttempt();
    const dra::ClaimPlan plan = dra::PlanClaim(state.claims().Find("default", NameOf(kind)), state);
    const dra::ClaimPlan* const plans[] = {&plan};
    dra::Allocator allocator(state);
    std::set<std::string> fitting;
    for (const std::string& node : kDeviceNodes) {
      const cluster::NodeRow row = harness_.cluster().nodes().Find(node);
      const auto outcome = allocator.Allocate(plans, row, std::numeric_limits<std::uint64_t>::max());
      if (outcome.verdict == dra::Verdict::kFound) fitting.insert(node);
    }
    return fitting;
  }

  DeviceHarness harness_;
  std::vector<std::pair<std::string, std::string>> taken_;  // claims, and where
  int names_ = 0;
  std::int64_t generation_ = 1;
};

TEST(DeviceSearchesProperty, WhatIsKeptIsWhatASearchFinds) {
  EXPECT_TRUE(rc::check([] {
    DeviceHistory history;
    for (int i = 0; i < 25; ++i) {
      history.Act();
      history.Check();
    }
  }));
}

}  // namespace
}  // namespace berth::plugins
