#pragma once

#include <vector>

#include "dra/device_bed.h"

namespace berth::dra::test {

// A device and the requests of a small world in which everything can be tried.
struct SmallDevice {
  int model = 0;
  int numa = 0;
  int memory = 0;    // of the counter that all share; 0: none
  int capacity = 0;  // of a device that is shared; 0: it is not
  bool taken = false;
};
struct SmallRequest {
  int model = 0;  // 0: any
  int count = 1;
  bool all = false;
  int capacity = 0;  // 0: whatever the device gives
};
struct SmallClaim {
  std::vector<SmallRequest> requests;
  bool same_numa = false;
};
struct SmallWorld {
  std::vector<SmallDevice> devices;
  int counter = 0;
  std::vector<SmallClaim> claims;
};

// Whether there is any way at all to give every claim its devices: by trying all of them.
bool HasSolution(const SmallWorld& world);

// The same world in slices and claims.
void Fill(DeviceBed& bed, const SmallWorld& world);
std::vector<api::ResourceClaim> ClaimsOf(const SmallWorld& world);
// Why the devices that were found are no solution; empty: they are one.
std::string Fault(const SmallWorld& world, const std::vector<TakenDevice>& taken);

}  // namespace berth::dra::test
