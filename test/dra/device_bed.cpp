#include "dra/device_bed.h"

#include <algorithm>
#include <fmt/format.h>

namespace berth::dra::test {

DeviceBuilder& DeviceBuilder::Text(const std::string& name, std::string value) {
  device_.attributes[name].string_value = std::move(value);
  return *this;
}
DeviceBuilder& DeviceBuilder::Int(const std::string& name, std::int64_t value) {
  device_.attributes[name].int_value = value;
  return *this;
}
DeviceBuilder& DeviceBuilder::Version(const std::string& name, std::string value) {
  device_.attributes[name].version = std::move(value);
  return *this;
}
DeviceBuilder& DeviceBuilder::Texts(const std::string& name, std::vector<std::string> values) {
  device_.attributes[name].strings = std::move(values);
  return *this;
}
DeviceBuilder& DeviceBuilder::Capacity(const std::string& name, std::string_view value) {
  device_.capacity[name].value = Amount(value);
  return *this;
}
DeviceBuilder& DeviceBuilder::Policy(const std::string& name, api::CapacityRequestPolicy policy) {
  device_.capacity[name].request_policy = std::move(policy);
  return *this;
}
DeviceBuilder& DeviceBuilder::Shared() {
  device_.allow_multiple_allocations = true;
  return *this;
}
DeviceBuilder& DeviceBuilder::Consumes(std::string set, const std::string& counter, std::string_view value) {
  const auto found =
      std::ranges::find(device_.consumes_counters, set, &api::DeviceCounterConsumption::counter_set);
  api::DeviceCounterConsumption& consumption =
      found == device_.consumes_counters.end() ? device_.consumes_counters.emplace_back() : *found;
  consumption.counter_set = std::move(set);
  consumption.counters[counter].value = Amount(value);
  return *this;
}
DeviceBuilder& DeviceBuilder::Groups(std::vector<std::string> groups) {
  device_.consumes_counters.back().compatibility_groups = std::move(groups);
  return *this;
}
DeviceBuilder& DeviceBuilder::Taint(std::string key, std::string effect) {
  api::DeviceTaint taint;
  taint.key = std::move(key);
  taint.effect = std::move(effect);
  device_.taints.push_back(std::move(taint));
  return *this;
}
DeviceBuilder& DeviceBuilder::BindingCondition(std::string type) {
  device_.binding_conditions.push_back(std::move(type));
  return *this;
}
DeviceBuilder& DeviceBuilder::BindsToNode() {
  device_.binds_to_node = true;
  return *this;
}
DeviceBuilder& DeviceBuilder::OnNode(std::string node) {
  device_.node_name = std::move(node);
  return *this;
}
DeviceBuilder& DeviceBuilder::OnAllNodes() {
  device_.all_nodes = true;
  return *this;
}

SliceBuilder::SliceBuilder(std::string name, std::string pool, std::vector<api::Device> devices) {
  slice_.metadata.name = std::move(name);
  slice_.spec.driver = "drvA";
  slice_.spec.pool = {.name = std::move(pool), .generation = 1, .resource_slice_count = 1};
  slice_.spec.all_nodes = true;
  slice_.spec.devices = std::move(devices);
}
SliceBuilder& SliceBuilder::Driver(std::string driver) {
  slice_.spec.driver = std::move(driver);
  return *this;
}
SliceBuilder& SliceBuilder::OnNode(std::string node) {
  slice_.spec.all_nodes.reset();
  slice_.spec.node_name = std::move(node);
  return *this;
}
SliceBuilder& SliceBuilder::NodeLabel(std::string key, std::string value) {
  slice_.spec.all_nodes.reset();
  if (!slice_.spec.node_selector) slice_.spec.node_selector.emplace().node_selector_terms.emplace_back();
  api::NodeSelectorRequirement requirement;
  requirement.key = std::move(key);
  requirement.operator_ = "In";
  requirement.values.push_back(std::move(value));
  slice_.spec.node_selector->node_selector_terms.front().match_expressions.push_back(std::move(requirement));
  return *this;
}
SliceBuilder& SliceBuilder::PerDevice() {
  slice_.spec.all_nodes.reset();
  slice_.spec.per_device_node_selection = true;
  return *this;
}
SliceBuilder& SliceBuilder::Generation(std::int64_t generation, std::int64_t slice_count) {
  slice_.spec.pool.generation = generation;
  slice_.spec.pool.resource_slice_count = slice_count;
  return *this;
}
SliceBuilder& SliceBuilder::Counter(const std::string& set, const std::string& counter,
                                    std::string_view value) {
  const auto found = std::ranges::find(slice_.spec.shared_counters, set, &api::CounterSet::name);
  api::CounterSet& counters =
      found == slice_.spec.shared_counters.end() ? slice_.spec.shared_counters.emplace_back() : *found;
  counters.name = set;
  counters.counters[counter].value = Amount(value);
  return *this;
}

namespace {

template <class Request>
void Fill(Request& request, const RequestWish& wish) {
  request.device_class_name = wish.device_class;
  request.allocation_mode = wish.all ? "All" : "ExactCount";
  request.count = wish.all ? 0 : wish.count;
  request.tolerations = wish.tolerations;
  if (!wish.selector.empty()) {
    request.selectors.emplace_back().cel = api::CELDeviceSelector{.expression = wish.selector};
  }
  if (wish.capacity.empty()) return;
  request.capacity.emplace();
  for (const auto& [name, amount] : wish.capacity) request.capacity->requests[name] = Amount(amount);
}

}  // namespace

api::ExactDeviceRequest Exactly(const RequestWish& wish) {
  api::ExactDeviceRequest request;
  Fill(request, wish);
  if (wish.admin) request.admin_access = true;
  return request;
}

api::DeviceSubRequest Alternatively(std::string name, const RequestWish& wish) {
  api::DeviceSubRequest request;
  request.name = std::move(name);
  Fill(request, wish);
  return request;
}

ClaimBuilder::ClaimBuilder(std::string name) {
  claim_.metadata.namespace_ = "default";
  claim_.metadata.uid = name + "-uid";
  claim_.metadata.resource_version = "1";
  claim_.metadata.name = std::move(name);
}
ClaimBuilder& ClaimBuilder::Request(std::string name, const RequestWish& wish) {
  api::DeviceRequest& request = claim_.spec.devices.requests.emplace_back();
  request.name = std::move(name);
  request.exactly = Exactly(wish);
  return *this;
}
ClaimBuilder& ClaimBuilder::FirstAvailable(std::string name,
                                           std::vector<api::DeviceSubRequest> alternatives) {
  api::DeviceRequest& request = claim_.spec.devices.requests.emplace_back();
  request.name = std::move(name);
  request.first_available = std::move(alternatives);
  return *this;
}
ClaimBuilder& ClaimBuilder::Match(std::string attribute, std::vector<std::string> requests) {
  api::DeviceConstraint& constraint = claim_.spec.devices.constraints.emplace_back();
  constraint.match_attribute = std::move(attribute);
  constraint.requests = std::move(requests);
  return *this;
}
ClaimBuilder& ClaimBuilder::Distinct(std::string attribute) {
  claim_.spec.devices.constraints.emplace_back().distinct_attribute = std::move(attribute);
  return *this;
}
ClaimBuilder& ClaimBuilder::Config(std::vector<std::string> requests) {
  claim_.spec.devices.config.emplace_back().requests = std::move(requests);
  return *this;
}
ClaimBuilder& ClaimBuilder::Has(const std::vector<std::string>& devices) {
  if (!claim_.status.allocation) claim_.status.allocation.emplace();
  for (const std::string& device : devices) {
    api::DeviceRequestAllocationResult& result = claim_.status.allocation->devices.results.emplace_back();
    const std::size_t slash = device.rfind('/');
    result.driver = "drvA";
    result.pool = device.substr(0, slash);
    result.device = device.substr(slash + 1);
  }
  return *this;
}
ClaimBuilder& ClaimBuilder::HasShare(const std::string& device, std::string share,
                                     api::ResourceList consumed) {
  Has({device});
  claim_.status.allocation->devices.results.back().share_id = std::move(share);
  claim_.status.allocation->devices.results.back().consumed_capacity = std::move(consumed);
  return *this;
}
ClaimBuilder& ClaimBuilder::Version(std::string version) {
  claim_.metadata.resource_version = std::move(version);
  return *this;
}

api::DeviceClass MakeClass(std::string name, std::string driver) {
  api::DeviceClass made;
  made.metadata.name = std::move(name);
  made.spec.selectors.emplace_back().cel =
      api::CELDeviceSelector{.expression = fmt::format("device.driver == \"{}\"", driver)};
  return made;
}

DeviceBed::DeviceBed(const Gates& gates) : state_(cluster_.UseExtension<DeviceState>()), allocator_(state_) {
  state_.SetGates(gates);
  AddNode("n1");
  Add(MakeClass("A", "drvA"));
  Add(MakeClass("B", "drvB"));
}

DeviceBed& DeviceBed::AddNode(const std::string& name, const std::string& zone) {
  auto node = berth::test::MakeNode(name);
  if (!zone.empty()) node.Zone(zone);
  cluster_.SetNode(std::make_shared<const api::Node>(node));
  return *this;
}
DeviceBed& DeviceBed::Add(const api::ResourceSlice& slice) {
  objects().Of<api::ResourceSlice>().Set(std::make_shared<const api::ResourceSlice>(slice));
  return *this;
}
DeviceBed& DeviceBed::Add(const api::DeviceClass& device_class) {
  objects().Of<api::DeviceClass>().Set(std::make_shared<const api::DeviceClass>(device_class));
  return *this;
}
DeviceBed& DeviceBed::Add(const api::ResourceClaim& claim) {
  objects().Of<api::ResourceClaim>().Set(std::make_shared<const api::ResourceClaim>(claim));
  return *this;
}
DeviceBed& DeviceBed::Add(const api::DeviceTaintRule& rule) {
  objects().Of<api::DeviceTaintRule>().Set(std::make_shared<const api::DeviceTaintRule>(rule));
  return *this;
}

std::string DeviceBed::Allocate(const std::vector<api::ResourceClaim>& claims, const std::string& node) {
  state_.selectors().BeginAttempt();
  std::vector<ClaimPlan> plans;
  std::vector<const ClaimPlan*> pointers;
  for (const api::ResourceClaim& claim : claims) {
    plans.push_back(PlanClaim(std::make_shared<const api::ResourceClaim>(claim), state_));
  }
  for (const ClaimPlan& plan : plans) pointers.push_back(&plan);
  const Outcome outcome = allocator_.Allocate(pointers, cluster_.nodes().Find(node), steps_max);
  switch (outcome.verdict) {
    case Verdict::kNone:
      return "none";
    case Verdict::kInvalidPools:
      return "invalid pools";
    case Verdict::kTimedOut:
      return "timed out";
    case Verdict::kError:
      return "error: " + outcome.error;
    case Verdict::kFound:
      break;
  }
  allocations_.clear();
  std::string text;
  const std::span<const TakenDevice> taken = allocator_.taken();
  for (std::size_t i = 0, first = 0; i < plans.size(); ++i) {
    std::size_t end = first;
    while (end < taken.size() && taken[end].claim == i) ++end;
    const auto own = taken.subspan(first, end - first);
    first = end;
    if (const auto nodes = NodesOf(plans[i], own, node); !nodes) return "error: " + nodes.error().message;
    allocations_.push_back(MakeAllocation(plans[i], own, node, state_.gates(),
                                          {.claim_uid = plans[i].name, .pod_uid = "", .attempt = 1}));
    for (const auto& result : allocations_.back().devices.results) {
      if (!text.empty()) text += " ";
      text += fmt::format("{}/{}:{}/{}/{}", plans[i].claim->metadata.name, result.request, result.driver,
                          result.pool, result.device);
    }
  }
  return text;
}

std::string DeviceBed::DevicesFor(const api::ResourceClaim& claim, const std::string& node) {
  const std::string outcome = Allocate({claim}, node);
  if (!outcome.contains(':') || outcome.starts_with("error: ")) return outcome;
  std::string text;
  for (const auto& result : allocations_.front().devices.results) {
    if (!text.empty()) text += " ";
    text += result.pool + "/" + result.device;
  }
  return text;
}

}  // namespace berth::dra::test
