#pragma once

namespace berth::dra {

// The feature gates that allocation reads, at kube-scheduler's defaults.
struct Gates {
  bool admin_access = true;
  bool prioritized_list = true;
  bool partitionable_devices = true;
  bool device_taints = true;
  bool device_taint_rules = true;
  bool consumable_capacity = true;
  // Binding conditions need the status of devices, too: both gates in one.
  bool binding_conditions = true;
  bool fractional_capacity_range = false;
  bool list_type_attributes = false;
  bool derived_attributes = false;
  bool compatibility_groups = false;
  bool optional_node_operations = false;

  // Upstream has three allocators and takes the most settled one that knows what is enabled. Where they
  // differ in what users see, these say which one it would be.
  bool IsExperimental() const {
    return list_type_attributes || derived_attributes || compatibility_groups || optional_node_operations;
  }
  bool IsStable() const {
    return !IsExperimental() && !consumable_capacity && !binding_conditions && !fractional_capacity_range;
  }

  bool operator==(const Gates&) const = default;
};

}  // namespace berth::dra
