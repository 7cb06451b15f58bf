#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "cluster/cluster.h"
#include "cluster/object_store.h"
#include "dra/allocation_result.h"
#include "dra/allocator.h"
#include "dra/claim_plan.h"
#include "dra/device_state.h"
#include "support/builders.h"

namespace berth::dra::test {

inline api::Quantity Amount(std::string_view text) { return api::Quantity::Parse(text).value(); }

class DeviceBuilder {
 public:
  explicit DeviceBuilder(std::string name) { device_.name = std::move(name); }

  DeviceBuilder& Text(const std::string& name, std::string value);
  DeviceBuilder& Int(const std::string& name, std::int64_t value);
  DeviceBuilder& Version(const std::string& name, std::string value);
  DeviceBuilder& Texts(const std::string& name, std::vector<std::string> values);
  DeviceBuilder& Capacity(const std::string& name, std::string_view value);
  DeviceBuilder& Policy(const std::string& name, api::CapacityRequestPolicy policy);
  DeviceBuilder& Shared();
  DeviceBuilder& Consumes(std::string set, const std::string& counter, std::string_view value);
  DeviceBuilder& Groups(std::vector<std::string> groups);  // of the last counter set
  DeviceBuilder& Taint(std::string key, std::string effect);
  DeviceBuilder& BindingCondition(std::string type);
  DeviceBuilder& BindsToNode();
  DeviceBuilder& OnNode(std::string node);
  DeviceBuilder& OnAllNodes();

  operator api::Device() const { return device_; }

 private:
  api::Device device_;
};
inline DeviceBuilder MakeDevice(std::string name) { return DeviceBuilder(std::move(name)); }

class SliceBuilder {
 public:
  // A slice of the driver drvA for all nodes, the only one of its pool.
  SliceBuilder(std::string name, std::string pool, std::vector<api::Device> devices = {});

  SliceBuilder& Driver(std::string driver);
  SliceBuilder& OnNode(std::string node);
  SliceBuilder& NodeLabel(std::string key, std::string value);
  SliceBuilder& PerDevice();
  SliceBuilder& Generation(std::int64_t generation, std::int64_t slice_count = 1);
  SliceBuilder& Counter(const std::string& set, const std::string& counter, std::string_view value);
  api::ResourceSlice& slice() { return slice_; }

  operator api::ResourceSlice() const { return slice_; }

 private:
  api::ResourceSlice slice_;
};
inline SliceBuilder MakeSlice(std::string name, std::string pool, std::vector<api::Device> devices = {}) {
  return {std::move(name), std::move(pool), std::move(devices)};
}

struct RequestWish {
  std::string device_class = "A";
  std::int64_t count = 1;
  bool all = false;
  bool admin = false;
  std::string selector = {};
  std::vector<api::DeviceToleration> tolerations = {};
  std::vector<std::pair<std::string, std::string>> capacity = {};
};
api::ExactDeviceRequest Exactly(const RequestWish& wish);
api::DeviceSubRequest Alternatively(std::string name, const RequestWish& wish);

class ClaimBuilder {
 public:
  // In the namespace "default".
  explicit ClaimBuilder(std::string name);

  ClaimBuilder& Request(std::string name, const RequestWish& wish = {});
  ClaimBuilder& FirstAvailable(std::string name, std::vector<api::DeviceSubRequest> alternatives);
  ClaimBuilder& Match(std::string attribute, std::vector<std::string> requests = {});
  ClaimBuilder& Distinct(std::string attribute);
  ClaimBuilder& Config(std::vector<std::string> requests);
  // As if somebody had allocated it: "pool/device" of drvA.
  ClaimBuilder& Has(const std::vector<std::string>& devices);
  ClaimBuilder& HasShare(const std::string& device, std::string share, api::ResourceList consumed = {});
  ClaimBuilder& Version(std::string version);
  api::ResourceClaim& claim() { return claim_; }

  operator api::ResourceClaim() const { return claim_; }

 private:
  api::ResourceClaim claim_;
};
inline ClaimBuilder MakeClaim(std::string name) { return ClaimBuilder(std::move(name)); }

// A cluster with devices. It speaks in names: "c/r: drvA/pool-1/device-1".
class DeviceBed {
 public:
  // With the node n1 and the classes A (of drvA) and B (of drvB).
  explicit DeviceBed(const Gates& gates = {});

  DeviceBed& AddNode(const std::string& name, const std::string& zone = "");
  DeviceBed& Add(const api::ResourceSlice& slice);
  DeviceBed& Add(const api::DeviceClass& device_class);
  DeviceBed& Add(const api::ResourceClaim& claim);
  DeviceBed& Add(const api::DeviceTaintRule& rule);
  void RemoveSlice(const std::string& name) { objects().Of<api::ResourceSlice>().Remove("", name); }
  void RemoveClaim(const std::string& name) { objects().Of<api::ResourceClaim>().Remove("default", name); }

  cluster::Cluster& cluster() { return cluster_; }
  cluster::ObjectStore& objects() { return cluster_.objects(); }
  DeviceState& state() { return state_; }
  Allocator& allocator() { return allocator_; }

  // "claim/request: driver/pool/device" for each device; or "none", "invalid pools", "timed out", "error:
  // ...".
  std::string Allocate(const std::vector<api::ResourceClaim>& claims, const std::string& node = "n1");
  // The same for one claim, with the devices alone: "pool-1/device-1 pool-1/device-2".
  std::string DevicesFor(const api::ResourceClaim& claim, const std::string& node = "n1");
  // Of the last success.
  const std::vector<api::AllocationResult>& allocations() const { return allocations_; }
  std::uint64_t steps_max = std::numeric_limits<std::uint64_t>::max();

 private:
  cluster::Cluster cluster_;
  DeviceState& state_;
  Allocator allocator_;
  std::vector<api::AllocationResult> allocations_;
};

api::DeviceClass MakeClass(std::string name, std::string driver);

}  // namespace berth::dra::test
