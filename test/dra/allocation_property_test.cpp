#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <set>

#include "dra/device_bed.h"
#include "dra/naive_search.h"

namespace berth::dra::test {
namespace {

int Between(int low, int high) { return *rc::gen::inRange(low, high + 1); }
bool Chance(int percent) { return Between(0, 99) < percent; }

SmallWorld AnyWorld() {
  SmallWorld world;
  world.counter = Between(4, 16);
  const int device_count = Between(3, 7);
  for (int i = 0; i < device_count; ++i) {
    world.devices.push_back({.model = Between(1, 2),
                             .numa = Between(0, 1),
                             .memory = Chance(40) ? Between(1, 6) : 0,
                             .capacity = Chance(30) ? Between(1, 4) : 0,
                             .taken = Chance(10)});
  }
  const int claim_count = Between(1, 2);
  for (int c = 0; c < claim_count; ++c) {
    SmallClaim& claim = world.claims.emplace_back();
    claim.same_numa = Chance(40);
    const int request_count = Between(1, 2);
    for (int r = 0; r < request_count; ++r) {
      claim.requests.push_back({.model = Between(0, 2),
                                .count = Chance(70) ? 1 : 2,
                                .all = Chance(5),
                                .capacity = Chance(15) ? Between(1, 2) : 0});
    }
  }
  return world;
}

// What trying everything finds, the search finds too, and what it finds is right. That All with devices which
// break a constraint is an error is upstream's rule, and no solution either.
TEST(AllocationProperty, FindsASolutionWheneverThereIsOne) {
  EXPECT_TRUE(rc::check([] {
    const SmallWorld world = AnyWorld();
    DeviceBed bed;
    Fill(bed, world);
    const std::string outcome = bed.Allocate(ClaimsOf(world));
    const bool found = outcome.starts_with("c");
    RC_LOG() << outcome;
    if (found) RC_ASSERT(Fault(world, bed.allocator().taken()) == "");
    if (!outcome.starts_with("error: ")) RC_ASSERT(found == HasSolution(world));
    RC_CLASSIFY(found);
  }));
}

// Claims come, are reserved, written, seen late, given up and deleted, and slices change, in any order: no
// device and no capacity is ever given to more than it can serve.
class History {
 public:
  History() { SetDevices(); }

  void Step() {
    switch (Between(0, 7)) {
      case 0:
      case 1:
      case 2:
        Reserve();
        break;
      case 3:
        WithAny(reserved_, [&](const std::string& name) { Write(name); });
        break;
      case 4:
        WithAny(written_, [&](const std::string& name) { See(name); });
        break;
      case 5:
        WithAny(reserved_, [&](const std::string& name) {
          bed_.state().claims().MaybeRemove(name + "-uid", false);
          Delete(name);
          reserved_.erase(name);
        });
        break;
      case 6:
        WithAny(seen_, [&](const std::string& name) {
          Delete(name);
          seen_.erase(name);
        });
        break;
      default:
        SetDevices();
        break;
    }
    CheckUse();
  }

 private:
  using Names = std::set<std::string>;

  template <class F>
  void WithAny(Names& names, F&& use) {
    if (names.empty()) return;
    const std::string name = *std::next(names.begin(), Between(0, static_cast<int>(names.size()) - 1));
    use(name);
  }

  // The driver may reorder its devices and leave some out; those in use stay as they are.
  void SetDevices() {
    std::vector<api::Device> devices;
    for (int i = 0; i < 5; ++i) {
      if (Chance(20)) continue;
      DeviceBuilder device("d" + std::to_string(i));
      if (i >= 3) device.Shared().Capacity("units", "4");
      devices.push_back(device);
    }
    if (Chance(50)) std::ranges::reverse(devices);
    bed_.Add(MakeSlice("s", "p", devices).Generation(++generation_));
  }

  void Reserve() {
    const std::string name = "c" + std::to_string(++last_);
    RequestWish wish{.count = Between(1, 2)};
    if (Chance(50)) wish.capacity = {{"units", std::to_string(Between(1, 3))}};
    const auto claim = MakeClaim(name).Request("r", wish).Version("1");
    if (!bed_.Allocate({claim}).starts_with("c")) return;
    bed_.Add(claim);
    auto allocated = claim;
    allocated.Version("2").claim().status.allocation = bed_.allocations().front();
    const auto ref = std::make_shared<const api::ResourceClaim>(allocated);
    RC_ASSERT(bed_.state().claims().Signal(name + "-uid", ref).has_value());
    claims_[name] = ref;
    reserved_.insert(name);
  }

  void Write(const std::string& name) {
    RC_ASSERT(bed_.state().claims().Assume(claims_[name]).has_value());
    bed_.state().claims().MaybeRemove(name + "-uid", true);
    reserved_.erase(name);
    written_.insert(name);
  }

  void See(const std::string& name) {
    bed_.Add(*claims_[name]);
    written_.erase(name);
    seen_.insert(name);
  }

  void Delete(const std::string& name) {
    bed_.RemoveClaim(name);
    claims_.erase(name);
  }

  void CheckUse() {
    std::map<std::string, int> dedicated;
    std::map<std::string, std::int64_t> units;
    for (const auto& [name, claim] : claims_) {
      for (const auto& result : claim->status.allocation->devices.results) {
        if (result.share_id) {
          units[result.device] += result.consumed_capacity.find("units")->Value();
        } else {
          ++dedicated[result.device];
        }
      }
    }
    for (const auto& [device, count] : dedicated) RC_ASSERT(count == 1);
    for (const auto& [device, sum] : units) {
      RC_ASSERT(sum <= 4);
      RC_ASSERT(!dedicated.contains(device));
    }
    for (int i = 0; i < 5; ++i) {
      const std::string device = "d" + std::to_string(i);
      const DeviceId id = bed_.state().devices().Find("drvA", "p", device);
      if (!id.IsValid()) {
        RC_ASSERT(!dedicated.contains(device) && !units.contains(device));
        continue;
      }
      const DeviceUse& use = bed_.state().devices().use(id);
      RC_ASSERT(use.dedicated == (dedicated.contains(device) ? 1 : 0));
      RC_ASSERT(use.IsShared() == units.contains(device));
      if (use.IsShared()) RC_ASSERT(use.consumed.find("units")->Value() == units[device]);
    }
  }

  DeviceBed bed_;
  std::int64_t generation_ = 0;
  int last_ = 0;
  std::map<std::string, ClaimRef> claims_;
  Names reserved_;
  Names written_;
  Names seen_;
};

TEST(AllocationProperty, NothingIsEverOverAllocated) {
  EXPECT_TRUE(rc::check([] {
    History history;
    const int steps = Between(1, 40);
    for (int i = 0; i < steps; ++i) history.Step();
  }));
}

// The order of claims, slices and pools must not depend on anything but the objects.
TEST(AllocationProperty, SameObjectsInAnotherOrderGiveTheSameDevices) {
  EXPECT_TRUE(rc::check([] {
    std::vector<api::ResourceSlice> slices;
    const int pool_count = Between(1, 4);
    for (int i = 0; i < pool_count; ++i) {
      const std::string name = std::to_string(i);
      slices.push_back(
          MakeSlice("s" + name, "p" + name, {MakeDevice("a").Int("x", i), MakeDevice("b").Int("x", 0)}));
    }
    const api::ResourceClaim claim = MakeClaim("c").Request("r", {.count = Between(1, 4)}).Match("drvA/x");
    DeviceBed one;
    for (const auto& slice : slices) one.Add(slice);
    DeviceBed other;
    for (auto slice = slices.rbegin(); slice != slices.rend(); ++slice) other.Add(*slice);
    RC_ASSERT(one.DevicesFor(claim) == other.DevicesFor(claim));
  }));
}

}  // namespace
}  // namespace berth::dra::test
