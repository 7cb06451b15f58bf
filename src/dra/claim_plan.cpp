#include "dra/claim_plan.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "fmt/format.h"

namespace berth::dra {
namespace {

constexpr std::string_view kExactCount = "ExactCount";
constexpr std::string_view kAll = "All";

bool AppliesTo(const api::DeviceConstraint& constraint, std::string_view request,
               std::string_view full_name) {
  if (constraint.requests.empty()) return true;
  return std::ranges::any_of(constraint.requests,
                             [&](const std::string& name) { return name == request || name == full_name; });
}

class Planner {
 public:
  Planner(ClaimPlan& plan, DeviceState& state) : plan_(plan), state_(state) {}

  void Plan() {
    for (const api::DeviceRequest& request : plan_.claim->spec.devices.requests) {
      plan_.requests.push_back(PlanRequest(request));
    }
    for (std::size_t i = 0; i < plan_.constraints().size(); ++i) {
      const api::DeviceConstraint& constraint = plan_.constraints()[i];
      // The oldest of upstream's allocators knows nothing of distinct attributes.
      const bool distinct = constraint.distinct_attribute && !state_.gates().IsStable();
      if (constraint.match_attribute || distinct || plan_.constraint_error) continue;
      plan_.constraint_error = fmt::format(
          "claim {}, constraint #{}: empty constraint (unsupported constraint type?)", plan_.name, i);
    }
  }

 private:
  PlannedRequest PlanRequest(const api::DeviceRequest& request) {
    PlannedRequest planned;
    planned.name = request.name;
    planned.prioritized = !request.first_available.empty();
    const Gates& gates = state_.gates();
    if (planned.prioritized) {
      if (!gates.prioritized_list) {
        planned.error =
            InRequest(request.name, "has subrequests, but the DRAPrioritizedList feature is disabled");
      }
      for (const api::DeviceSubRequest& sub : request.first_available) {
        Alternative made = PlanAlternative(sub.name, sub);
        made.full_name = fmt::format("{}/{}", request.name, sub.name);
        Finish(made, request.name);
        if (sub.capacity && !gates.consumable_capacity) {
          made.error = fmt::format("claim {}, subrequest {}: {}", plan_.name, sub.name, kCapacityDisabled);
        }
        planned.alternatives.push_back(std::move(made));
      }
      return planned;
    }
    // A request that says nothing is refused for its missing class.
    const api::ExactDeviceRequest& exactly = request.exactly ? *request.exactly : kNoRequest;
    Alternative made = PlanAlternative(request.name, exactly);
    made.full_name = request.name;
    Finish(made, request.name);
    if (exactly.capacity && !gates.consumable_capacity)
      made.error = InRequest(request.name, kCapacityDisabled);
    planned.alternatives.push_back(std::move(made));
    return planned;
  }

  template <class Request>
  Alternative PlanAlternative(std::string_view name, const Request& request) {
    Alternative made;
    made.name = name;
    made.tolerations = &request.tolerations;
    if (request.capacity) made.capacity = &request.capacity->requests;
    made.all = request.allocation_mode == kAll;
    made.count = request.count;
    if constexpr (std::is_same_v<Request, api::ExactDeviceRequest>) {
      made.admin = request.admin_access.value_or(false);
    }
    made.device_class = state_.FindClass(request.device_class_name);
    made.error = Problem(name, request, made.device_class != nullptr);
    if (made.error) return made;
    AddSelectors(made, made.device_class->spec.selectors, true);
    AddSelectors(made, request.selectors, false);
    for (const api::DeviceDerivedAttribute& derived : request.derived_attributes) {
      made.derived.push_back(
          {derived.name, state_.selectors().Use(derived.expression, cel::ExpressionKind::kDerivedAttribute)});
    }
    return made;
  }

  void AddSelectors(Alternative& made, const std::vector<api::DeviceSelector>& selectors, bool of_class) {
    for (std::size_t i = 0; i < selectors.size(); ++i) {
      const std::string expression = selectors[i].cel ? selectors[i].cel->expression : "";
      made.selectors.push_back({state_.selectors().Use(expression), of_class, i});
    }
  }

  void Finish(Alternative& made, std::string_view request) {
    for (std::uint32_t i = 0; i < plan_.constraints().size(); ++i) {
      if (AppliesTo(plan_.constraints()[i], request, made.full_name)) made.constraints.push_back(i);
    }
  }

  // What upstream refuses before it looks at any device.
  template <class Request>
  std::optional<std::string> Problem(std::string_view name, const Request& request, bool has_class) const {
    const Gates& gates = state_.gates();
    if (!request.derived_attributes.empty() && !gates.derived_attributes) {
      return InRequest(name, "cannot handle request with derived attributes, the feature is disabled");
    }
    for (std::size_t i = 0; i < request.selectors.size(); ++i) {
      if (request.selectors[i].cel) continue;
      return fmt::format(
          "claim {}, request {}, selector #{}: CEL expression empty (unsupported selector type?)", plan_.name,
          name, i);
    }
    if constexpr (std::is_same_v<Request, api::ExactDeviceRequest>) {
      if (request.admin_access && !gates.admin_access) {
        return InRequest(name, "admin access is requested, but the feature is disabled");
      }
    }
    if (request.device_class_name.empty()) {
      return InRequest(name, "missing device class name (unsupported request type?)");
    }
    if (!has_class) {
      return InRequest(
          name,
          fmt::format("could not retrieve device class {}: deviceclass.resource.k8s.io \"{}\" not found",
                      request.device_class_name, request.device_class_name));
    }
    if (request.allocation_mode != kAll && request.allocation_mode != kExactCount) {
      return InRequest(name, fmt::format("unsupported count mode {}", request.allocation_mode));
    }
    return std::nullopt;
  }

  std::string InRequest(std::string_view name, std::string_view what) const {
    return fmt::format("claim {}, request {}: {}", plan_.name, name, what);
  }

  static constexpr std::string_view kCapacityDisabled =
      "has capacity requests, but the DRAConsumableCapacity feature is disabled";
  static inline const api::ExactDeviceRequest kNoRequest;

  ClaimPlan& plan_;
  DeviceState& state_;
};

}  // namespace

ClaimPlan PlanClaim(ClaimRef claim, DeviceState& state) {
  ClaimPlan plan;
  plan.claim = std::move(claim);
  plan.name = ClaimName(*plan.claim);
  Planner(plan, state).Plan();
  return plan;
}

}  // namespace berth::dra
