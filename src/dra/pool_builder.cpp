#include "dra/pool_builder.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"

#include "base/log.h"

namespace berth::dra {
namespace {

// Fields with their lengths, so that no two lists of fields give one text.
class FieldText {
 public:
  FieldText& operator<<(std::string_view field) {
    text_ += std::to_string(field.size());
    text_.append(":").append(field);
    return *this;
  }
  FieldText& operator<<(const std::vector<std::string>& fields) {
    Count(fields.size());
    for (const std::string& field : fields) *this << std::string_view(field);
    return *this;
  }
  FieldText& operator<<(const api::Quantity& amount) { return *this << std::string_view(amount.ToString()); }
  FieldText& operator<<(const std::optional<std::string>& field) {
    Count(field ? 1 : 0);
    return field ? *this << std::string_view(*field) : *this;
  }
  FieldText& operator<<(const std::optional<api::Quantity>& amount) {
    Count(amount ? 1 : 0);
    return amount ? *this << *amount : *this;
  }
  FieldText& Flag(const std::optional<bool>& flag) {
    text_ += flag ? (*flag ? "t" : "f") : "-";
    return *this;
  }
  void Count(std::size_t count) { text_.append(std::to_string(count)).append(";"); }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddAttribute(FieldText& text, const api::DeviceAttribute& attribute) {
  text << std::string_view(attribute.int_value ? std::to_string(*attribute.int_value) : "-");
  text.Flag(attribute.bool_value) << attribute.string_value << attribute.version;
  text.Count(attribute.ints.size());
  for (const std::int64_t value : attribute.ints) text << std::string_view(std::to_string(value));
  text.Count(attribute.bools.size());
  for (const bool value : attribute.bools) text.Flag(value);
  text << attribute.strings << attribute.versions;
}

void AddSelector(FieldText& text, const std::optional<api::NodeSelector>& selector) {
  text.Count(selector ? selector->node_selector_terms.size() + 1 : 0);
  if (!selector) return;
  for (const api::NodeSelectorTerm& term : selector->node_selector_terms) {
    for (const auto* requirements : {&term.match_expressions, &term.match_fields}) {
      text.Count(requirements->size());
      for (const auto& requirement : *requirements) {
        text << std::string_view(requirement.key) << std::string_view(requirement.operator_)
             << requirement.values;
      }
    }
  }
}

void AddPolicy(FieldText& text, const std::optional<api::CapacityRequestPolicy>& policy) {
  text.Count(policy ? policy->valid_values.size() + 1 : 0);
  if (!policy) return;
  text << policy->default_;
  for (const api::Quantity& value : policy->valid_values) text << value;
  text.Count(policy->valid_range ? 1 : 0);
  if (policy->valid_range) {
    text << policy->valid_range->min << policy->valid_range->max << policy->valid_range->step;
  }
}

// The counters of a pool while it is being built.
class Counters {
 public:
  explicit Counters(PoolView& view) : view_(view) {}

  // False: a set of that name is there already.
  bool Add(const api::CounterSet& set) {
    const auto index = static_cast<std::uint32_t>(view_.counter_sets.size());
    if (!sets_.try_emplace(set.name, Set{}).second) return Fail("duplicate counter set name " + set.name);
    view_.counter_sets.push_back(set.name);
    Set& made = sets_[set.name];
    for (const auto& [name, counter] : set.counters) {
      made.positions[name] = static_cast<std::uint32_t>(view_.counters.size());
      // Added to zero, so that the text that it was read from does not travel along.
      api::Quantity total;
      total.Add(counter.value);
      view_.counters.push_back({index, std::move(total)});
    }
    return true;
  }

  bool Resolve(const api::Device& device, std::vector<CounterAmount>& amounts) {
    for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
      const auto set = sets_.find(consumption.counter_set);
      if (set == sets_.end()) return Fail(fmt::format("counter set {} not found", consumption.counter_set));
      for (const auto& [name, counter] : consumption.counters) {
        const auto found = set->second.positions.find(name);
        if (found == set->second.positions.end()) {
          return Fail(fmt::format("counter {} not found in counter set {}", name, consumption.counter_set));
        }
        api::Quantity amount;
        amount.Add(counter.value);
        amounts.push_back({found->second, std::move(amount)});
      }
    }
    return true;
  }

 private:
  struct Set {
    absl::flat_hash_map<std::string_view, std::uint32_t> positions;  // in view_.counters
  };

  bool Fail(const std::string& why) {
    BERTH_LOG(5, "A resource pool is invalid", {"driver", view_.driver}, {"pool", view_.pool}, {"why", why});
    return false;
  }

  PoolView& view_;
  absl::flat_hash_map<std::string_view, Set> sets_;
};

bool AddCounters(std::span<const PooledSlice> slices, Counters& counters, PoolView& view) {
  for (const auto& [slice, targets_node] : slices) {
    for (const api::CounterSet& set : slice->spec().shared_counters) {
      if (!counters.Add(set)) return false;
    }
  }
  for (const auto& [slice, targets_node] : slices) {
    if (!slice->spec().shared_counters.empty()) continue;
    for (std::size_t i = 0; i < slice->ids.size(); ++i) {
      const api::Device& device = slice->spec().devices[i];
      if (device.consumes_counters.empty()) continue;
      PoolView::Consumer consumer{.id = slice->ids[i], .device = &device, .consumes = {}};
      if (!counters.Resolve(device, consumer.consumes)) return false;
      view.consumers.push_back(std::move(consumer));
    }
  }
  return true;
}

bool AddDevices(std::span<const PooledSlice> slices, const Gates& gates, Counters& counters, PoolView& view) {
  absl::flat_hash_set<std::string_view> names;
  for (const auto& [slice, targets_node] : slices) {
    if (!targets_node || !slice->spec().shared_counters.empty()) continue;
    view.has_binding_conditions = view.has_binding_conditions || slice->has_binding_conditions;
    for (std::uint32_t i = 0; i < slice->ids.size(); ++i) {
      const api::Device& device = slice->spec().devices[i];
      if (!names.insert(device.name).second) {
        BERTH_LOG(5, "A resource pool is invalid", {"driver", view.driver}, {"pool", view.pool},
                  {"why", "duplicate device name " + device.name});
        return false;
      }
      PoolDevice made{.slice = slice,
                      .position = i,
                      .id = slice->ids[i],
                      .shape = slice->shapes[i],
                      .kind = slice->kinds[i],
                      .multi_allocatable = device.allow_multiple_allocations.value_or(false),
                      .has_binding_conditions = !device.binding_conditions.empty(),
                      .has_taints = !device.taints.empty(),
                      .consumes = {}};
      if (gates.partitionable_devices && !counters.Resolve(device, made.consumes)) return false;
      view.devices.push_back(std::move(made));
    }
  }
  return true;
}

}  // namespace

std::string ShapeText(std::string_view driver, const api::Device& device) {
  FieldText text;
  text << driver;
  text.Flag(device.allow_multiple_allocations.value_or(false));
  text.Count(device.attributes.size());
  for (const auto& [name, attribute] : device.attributes) {
    text << std::string_view(name);
    AddAttribute(text, attribute);
  }
  text.Count(device.capacity.size());
  for (const auto& [name, capacity] : device.capacity) text << std::string_view(name) << capacity.value;
  return text.Take();
}

std::string KindText(const api::ResourceSliceSpec& slice, const api::Device& device) {
  FieldText text;
  text << std::string_view(ShapeText(slice.driver, device));
  for (const auto& [name, capacity] : device.capacity) AddPolicy(text, capacity.request_policy);
  text.Count(device.consumes_counters.size());
  // Counters belong to the pool.
  if (!device.consumes_counters.empty()) text << std::string_view(slice.pool.name);
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    text << std::string_view(consumption.counter_set) << consumption.compatibility_groups;
    text.Count(consumption.counters.size());
    for (const auto& [name, counter] : consumption.counters) text << std::string_view(name) << counter.value;
  }
  text << device.node_name;
  text.Flag(device.all_nodes).Flag(device.binds_to_node).Flag(slice.per_device_node_selection);
  AddSelector(text, device.node_selector);
  text.Count(device.taints.size());
  for (const api::DeviceTaint& taint : device.taints)
    text << std::string_view(taint.key) << std::string_view(taint.value) << std::string_view(taint.effect);
  text << device.binding_conditions << device.binding_failure_conditions << slice.skip_node_operations;
  return text.Take();
}

PoolView BuildPool(std::span<const PooledSlice> slices, const Gates& gates) {
  PoolView view;
  view.driver = slices.front().slice->spec().driver;
  view.pool = slices.front().slice->spec().pool.name;
  Counters counters(view);
  const bool is_valid = (!gates.partitionable_devices || AddCounters(slices, counters, view)) &&
                        AddDevices(slices, gates, counters, view);
  if (!is_valid) {
    PoolView invalid;
    invalid.driver = view.driver;
    invalid.pool = view.pool;
    invalid.state = PoolView::State::kInvalid;
    return invalid;
  }
  return view;
}

}  // namespace berth::dra
