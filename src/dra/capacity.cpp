#include "dra/capacity.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"

#include "base/error.h"

namespace berth::dra {
namespace {

using api::Quantity;

// A range in the units that upstream counts in: whole ones, or thousandths where all of it is exact in them.
struct Units {
  bool milli = false;

  std::int64_t Of(const Quantity& amount) const { return milli ? amount.MilliValue() : amount.Value(); }
  bool Fits(const Quantity& amount) const { return milli ? amount.MilliValueFits() : amount.ValueFits(); }
  Quantity Make(std::int64_t number, Quantity::Format format) const {
    return milli ? Quantity::FromMilli(number, format) : Quantity::FromInt(number, format);
  }
};

bool IsExactInMilli(Quantity amount) { return amount.MilliValueFits() && amount.RoundUp(-3); }

Units UnitsOf(const api::CapacityRequestPolicyRange& range, bool fractional) {
  if (!fractional) return {};
  const auto exact = [](const std::optional<Quantity>& amount) { return !amount || IsExactInMilli(*amount); };
  return {.milli =
              exact(range.min) && exact(range.max) && exact(range.step) && range.step->MilliValue() >= 1};
}

std::string Unrepresentable(const std::string& why) {
  return "capacity request cannot be represented in the device's range arithmetic: " + why;
}

base::Result<Quantity> RoundUpInRange(const Quantity& request, const api::CapacityRequestPolicyRange& range,
                                      bool fractional) {
  if (!range.min) return request;
  if (request.Compare(*range.min) < 0) return *range.min;
  if (!range.step) return request;
  const Units units = UnitsOf(range, fractional);
  if (!units.Fits(request)) {
    return base::Fail(
        Unrepresentable(fmt::format(fmt::runtime(units.milli ? "request {} is not a representable milli value"
                                                             : "request {} exceeds MaxInt64"),
                                    request.ToString())));
  }
  const std::int64_t step = units.Of(*range.step);
  if (step <= 0) return request;
  const std::int64_t min = units.Of(*range.min);
  std::int64_t above = 0;
  std::int64_t rounded = 0;
  bool overflow = __builtin_sub_overflow(units.Of(request), min, &above);
  if (!overflow) {
    const std::int64_t steps = above / step + (above % step != 0 ? 1 : 0);
    overflow =
        __builtin_mul_overflow(steps, step, &rounded) || __builtin_add_overflow(rounded, min, &rounded);
  }
  if (overflow) {
    return base::Fail(
        Unrepresentable(fmt::format("rounding request {} up to the next step passes {}", request.ToString(),
                                    units.milli ? "the milli-value range" : "MaxInt64")));
  }
  return units.Make(rounded, range.step->format());
}

base::Result<Quantity> Consumed(const Quantity* request, const api::DeviceCapacity& capacity,
                                bool fractional) {
  const std::optional<api::CapacityRequestPolicy>& policy = capacity.request_policy;
  if (request == nullptr) return policy && policy->default_ ? *policy->default_ : capacity.value;
  if (!policy) return *request;
  if (policy->valid_range) return RoundUpInRange(*request, *policy->valid_range, fractional);
  for (const Quantity& value : policy->valid_values) {
    if (value.Compare(*request) >= 0) return value;
  }
  return *request;
}

bool IsAllowed(const Quantity& amount, const api::CapacityRequestPolicy& policy, bool fractional) {
  if (policy.default_ && *policy.default_ == amount) return true;
  if (const std::optional<api::CapacityRequestPolicyRange>& range = policy.valid_range) {
    if (range->max && amount.Compare(*range->max) > 0) return false;
    if (!range->step || !range->min) return true;
    const Units units = UnitsOf(*range, fractional);
    const std::int64_t step = units.Of(*range->step);
    std::int64_t above = 0;
    if (__builtin_sub_overflow(units.Of(amount), units.Of(*range->min), &above)) return false;
    return step <= 0 || above % step == 0;
  }
  return policy.valid_values.empty() ||
         std::ranges::find(policy.valid_values, amount) != policy.valid_values.end();
}

}  // namespace

ConsumedCapacity ConsumedBy(const api::ResourceList* requests, const api::Device& device, bool fractional) {
  ConsumedCapacity consumed;
  if (requests != nullptr) {
    for (const auto& [name, amount] : *requests) {
      if (device.capacity.contains(name)) continue;
      consumed.fits = false;
      return consumed;
    }
  }
  for (const auto& [name, capacity] : device.capacity) {
    base::Result<Quantity> amount =
        Consumed(requests == nullptr ? nullptr : requests->find(name), capacity, fractional);
    if (amount && amount->Sign() < 0) amount = base::Fail("capacity value is negative");
    if (!amount) {
      consumed.error = fmt::format("capacity \"{}\": {}", name, amount.error().message);
      return consumed;
    }
    consumed.amounts.insert_or_assign(name, *std::move(amount));
  }
  consumed.fits = std::ranges::all_of(device.capacity, [&](const auto& entry) {
    const auto& [name, capacity] = entry;
    const Quantity& amount = *consumed.amounts.find(name);
    if (amount.Compare(capacity.value) > 0) return false;
    return !capacity.request_policy || IsAllowed(amount, *capacity.request_policy, fractional);
  });
  return consumed;
}

}  // namespace berth::dra
