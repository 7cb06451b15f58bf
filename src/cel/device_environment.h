#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/devices.h"
#include "cel/value.h"

namespace berth::cel {

// A device as expressions see it: device.driver, device.attributes["domain"].id,
// device.capacity["domain"].id, device.allowMultipleAllocations.
//
// Making one costs O(attributes); evaluations then only look values up. So make one per device and version of
// its slice, not one per evaluation.
class DeviceView {
 public:
  DeviceView(std::string_view driver, const api::Device& device);

  // Set if an attribute cannot be converted: then every expression fails with this text, even one that is
  // constant.
  const std::optional<std::string>& error() const { return error_; }
  // Requires that there is no error.
  const Value& value() const { return value_; }

 private:
  std::optional<std::string> error_;
  Value value_;
};

}  // namespace berth::cel
