#include "dra/naive_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace berth::dra::test {
namespace {

// One device for one unit of a request.
struct Pick {
  std::size_t claim;
  std::size_t request;
  std::size_t device;
};

int Needed(const SmallWorld& world, const SmallRequest& request) {
  if (!request.all) return request.count;
  return static_cast<int>(std::ranges::count_if(world.devices, [&](const SmallDevice& device) {
    if (request.capacity > 0 && (device.capacity == 0 || request.capacity > device.capacity)) return false;
    return request.model == 0 || device.model == request.model;
  }));
}

// What one use takes of a shared device.
int Portion(const SmallRequest& request, const SmallDevice& device) {
  return request.capacity > 0 ? request.capacity : device.capacity;
}

// The rules, all at once and for all devices: nothing of how they are searched.
std::string Broken(const SmallWorld& world, const std::vector<Pick>& picks) {
  std::map<std::size_t, int> uses;
  std::map<std::size_t, int> portions;
  std::set<std::tuple<std::size_t, std::size_t, std::size_t>> once;
  std::map<std::size_t, std::set<int>> numas;
  for (const Pick& pick : picks) {
    const SmallDevice& device = world.devices[pick.device];
    const SmallRequest& request = world.claims[pick.claim].requests[pick.request];
    if (device.taken) return "a device that another claim has";
    if (request.model != 0 && device.model != request.model) return "a device that does not match";
    if (request.capacity > 0 && device.capacity == 0) return "capacity of a device that has none";
    if (!once.insert({pick.claim, pick.request, pick.device}).second) return "a device twice in one request";
    ++uses[pick.device];
    if (device.capacity > 0) portions[pick.device] += Portion(request, device);
    if (world.claims[pick.claim].same_numa) numas[pick.claim].insert(device.numa);
  }
  int counter = 0;
  for (const SmallDevice& device : world.devices) {
    if (device.taken) counter += device.memory;
  }
  const bool over_committed = counter > world.counter;
  bool consumes = false;
  for (const auto& [index, count] : uses) {
    const SmallDevice& device = world.devices[index];
    if (device.capacity == 0 && count > 1) return "a device that is not shared, twice";
    if (device.capacity > 0 && portions[index] > device.capacity) return "more capacity than there is";
    counter += device.memory;
    consumes = consumes || device.memory > 0;
  }
  if (consumes && (over_committed || counter > world.counter)) return "more of the counter than there is";
  for (const auto& [claim, values] : numas) {
    if (values.size() > 1) return "different values of an attribute that must match";
  }
  return "";
}

bool Try(const SmallWorld& world, std::vector<Pick>& picks, std::size_t claim, std::size_t request, int done,
         std::size_t first) {
  if (claim == world.claims.size()) return Broken(world, picks).empty();
  const auto& requests = world.claims[claim].requests;
  if (request == requests.size()) return Try(world, picks, claim + 1, 0, 0, 0);
  const int needed = Needed(world, requests[request]);
  if (requests[request].all && needed == 0) return false;
  if (done == needed) return Try(world, picks, claim, request + 1, 0, 0);
  for (std::size_t device = first; device < world.devices.size(); ++device) {
    picks.push_back({claim, request, device});
    // Only to be done before the end of time: what is broken stays broken.
    if (Broken(world, picks).empty() && Try(world, picks, claim, request, done + 1, device + 1)) return true;
    picks.pop_back();
  }
  return false;
}

std::string NameOf(std::size_t device) { return fmt::format("d{}", device); }

}  // namespace

bool HasSolution(const SmallWorld& world) {
  std::vector<Pick> picks;
  return Try(world, picks, 0, 0, 0, 0);
}

void Fill(DeviceBed& bed, const SmallWorld& world) {
  std::vector<api::Device> devices;
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < world.devices.size(); ++i) {
    const SmallDevice& device = world.devices[i];
    DeviceBuilder made(NameOf(i));
    made.Int("model", device.model).Int("numa", device.numa);
    if (device.memory > 0) made.Consumes("X", "memory", std::to_string(device.memory));
    if (device.capacity > 0) made.Shared().Capacity("units", std::to_string(device.capacity));
    devices.push_back(made);
    if (device.taken) taken.push_back("p/" + NameOf(i));
  }
  bed.Add(MakeSlice("counters", "p").Generation(1, 2).Counter("X", "memory", std::to_string(world.counter)));
  bed.Add(MakeSlice("devices", "p", std::move(devices)).Generation(1, 2));
  if (!taken.empty()) bed.Add(MakeClaim("other").Has(taken));
}

std::vector<api::ResourceClaim> ClaimsOf(const SmallWorld& world) {
  std::vector<api::ResourceClaim> claims;
  for (std::size_t c = 0; c < world.claims.size(); ++c) {
    ClaimBuilder claim(fmt::format("c{}", c));
    for (std::size_t r = 0; r < world.claims[c].requests.size(); ++r) {
      const SmallRequest& request = world.claims[c].requests[r];
      RequestWish wish{.count = request.count, .all = request.all};
      if (request.model != 0)
        wish.selector = fmt::format("device.attributes[\"drvA\"].model == {}", request.model);
      if (request.capacity > 0) wish.capacity = {{"units", std::to_string(request.capacity)}};
      claim.Request(fmt::format("r{}", r), wish);
    }
    if (world.claims[c].same_numa) claim.Match("drvA/numa");
    claims.push_back(claim);
  }
  return claims;
}

std::string Fault(const SmallWorld& world, const std::vector<TakenDevice>& taken) {
  std::vector<Pick> picks;
  std::map<std::pair<std::size_t, std::size_t>, int> counts;
  for (const TakenDevice& one : taken) {
    const auto device = static_cast<std::size_t>(std::stoi(std::string(one.device->name().substr(1))));
    picks.push_back({one.claim, one.request, device});
    ++counts[{one.claim, one.request}];
  }
  for (std::size_t c = 0; c < world.claims.size(); ++c) {
    for (std::size_t r = 0; r < world.claims[c].requests.size(); ++r) {
      if (counts[{c, r}] != Needed(world, world.claims[c].requests[r]))
        return "another number than asked for";
    }
  }
  return Broken(world, picks);
}

}  // namespace berth::dra::test
