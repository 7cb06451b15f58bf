#pragma once

#include <memory>
#include <string_view>

#include "absl/container/btree_map.h"

#include "api/devices.h"

namespace berth::dra {

// DeviceTaintRules: taints that an administrator puts on devices from outside of their slices.
class TaintRules {
 public:
  using Rule = std::shared_ptr<const api::DeviceTaintRule>;
  using Slice = std::shared_ptr<const api::ResourceSlice>;

  // Null removes.
  void Set(std::string_view name, const Rule& rule);
  bool empty() const { return rules_.empty(); }

  // The slice with the taints of all rules appended; the same object if none concerns it.
  Slice Patched(const Slice& slice) const;
  // Whether the rule can concern a device of the slice.
  static bool Concerns(const api::DeviceTaintRule& rule, const api::ResourceSlice& slice);

 private:
  absl::btree_map<std::string, Rule, std::less<>> rules_;  // by name: the order of their taints
};

}  // namespace berth::dra
