#include "cel/device_environment.h"

#include <gtest/gtest.h>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

// Case 37: a device that cannot be converted fails every expression, whatever it looks at.
TEST(DeviceView, BadVersionFailsEveryExpression) {
  api::Device device = MakeTestDevice();
  device.attributes["bad"].version = "1.x.0";
  EXPECT_EQ(Outcome("true", device),
            R"(RE attribute bad: parse semantic version: Invalid character(s) found in minor number "x")");
}

TEST(DeviceView, AttributeWithoutAValueFailsEveryExpression) {
  api::Device device = MakeTestDevice();
  device.attributes["empty"];
  EXPECT_EQ(Outcome("true", device), "RE attribute empty: unsupported attribute value");
}

TEST(DeviceView, ListsComeBeforeScalars) {
  api::Device device;
  device.attributes["a"].int_value = 1;
  device.attributes["a"].strings = {"x"};
  device.attributes["a"].ints = {7};
  EXPECT_EQ(Outcome("A.a == [7]", device), "true");
}

TEST(DeviceView, NameIsSplitAtTheFirstSlash) {
  api::Device device;
  device.attributes["a.example.com/b/c"].int_value = 1;
  EXPECT_EQ(Outcome("device.attributes['a.example.com']['b/c'] == 1", device), "true");
}

TEST(DeviceView, SharedUseIsVisibleOnlyIfSet) {
  api::Device device = MakeTestDevice();
  EXPECT_EQ(Outcome("device.allowMultipleAllocations", device), "false");
  device.allow_multiple_allocations = true;
  EXPECT_EQ(Outcome("device.allowMultipleAllocations", device), "true");
}

}  // namespace
}  // namespace berth::cel
