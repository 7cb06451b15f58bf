#include "plugins/resource_args.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fmt/format.h"

#include "api/validation.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kWeightMax = 100;
constexpr std::int32_t kUtilizationMax = 100;

std::string InvalidNumber(const api::FieldPath& path, std::int64_t value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path.ToString(), value, detail);
}

std::string RequiredField(const api::FieldPath& path, std::string_view detail) {
  return fmt::format("{}: Required value: {}", path.ToString(), detail);
}

void CheckNames(std::span<const std::string> names, const api::FieldPath& path, api::FieldErrors& errors) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const std::string& problem : api::LabelKeyProblems(names[i])) {
      errors.push_back(api::InvalidField(path.Index(i), names[i], problem));
    }
  }
}

void CheckGroups(std::span<const std::string> groups, const api::FieldPath& path, api::FieldErrors& errors) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].contains('/')) {
      errors.push_back(api::InvalidField(path.Index(i), groups[i], "resource group name can't contain '/'"));
    }
    for (const std::string& problem : api::LabelKeyProblems(groups[i])) {
      errors.push_back(api::InvalidField(path.Index(i), groups[i], problem));
    }
  }
}

void CheckWeights(std::span<const framework::ResourceWeight> resources, const api::FieldPath& path,
                  api::FieldErrors& errors) {
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (resources[i].weight > 0 && resources[i].weight <= kWeightMax) continue;
    errors.push_back(
        InvalidNumber(path.Index(i).Child("weight"), resources[i].weight,
                      fmt::format("resource weight of {} not in valid range (0, 100]", resources[i].name)));
  }
}

void CheckShape(std::span<const framework::ShapePoint> shape, const api::FieldPath& path,
                api::FieldErrors& errors) {
  if (shape.empty()) {
    errors.push_back(RequiredField(path, "at least one point must be specified"));
    return;
  }
  const auto unsorted =
      std::ranges::adjacent_find(shape, std::ranges::greater_equal(), &framework::ShapePoint::utilization);
  if (unsorted != shape.end()) {
    const auto index = static_cast<std::size_t>(unsorted - shape.begin()) + 1;
    errors.push_back(InvalidNumber(path.Index(index).Child("utilization"), shape[index].utilization,
                                   "values must be sorted in increasing order"));
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto [utilization, score] = shape[i];
    if (utilization < 0 || utilization > kUtilizationMax) {
      errors.push_back(
          InvalidNumber(path.Index(i).Child("utilization"), utilization, "not in valid range [0, 100]"));
    }
    if (score < 0 || score > kShapeScoreMax) {
      errors.push_back(InvalidNumber(path.Index(i).Child("score"), score, "not in valid range [0, 10]"));
    }
  }
}

base::Result<void> ResultOf(const api::FieldErrors& errors) {
  if (!errors.empty()) return base::Fail(api::AggregateErrors(errors));
  return {};
}

}  // namespace

base::Result<void> Validate(const framework::NodeResourcesFitArgs& args) {
  api::FieldErrors errors;
  CheckNames(args.ignored_resources, api::FieldPath("ignoredResources"), errors);
  CheckGroups(args.ignored_resource_groups, api::FieldPath("ignoredResourceGroups"), errors);
  const api::FieldPath strategy("scoringStrategy");
  CheckWeights(args.resources, strategy.Child("resources"), errors);
  if (args.strategy == framework::ScoringStrategyType::kRequestedToCapacityRatio) {
    CheckShape(args.shape, strategy.Child("requestedToCapacityRatio").Child("shape"), errors);
  } else if (!args.shape.empty()) {
    errors.push_back(fmt::format("{}: Forbidden: must be nil when type is not RequestedToCapacityRatio",
                                 strategy.Child("requestedToCapacityRatio").ToString()));
  }
  return ResultOf(errors);
}

base::Result<void> Validate(const framework::NodeResourcesBalancedAllocationArgs& args) {
  api::FieldErrors errors;
  const api::FieldPath path("resources");
  for (std::size_t i = 0; i < args.resources.size(); ++i) {
    const framework::ResourceWeight& resource = args.resources[i];
    const auto earlier = std::span(args.resources).first(i);
    if (std::ranges::find(earlier, resource.name, &framework::ResourceWeight::name) != earlier.end()) {
      errors.push_back(
          fmt::format("{}: Duplicate value: \"{}\"", path.Index(i).Child("name").ToString(), resource.name));
    }
    if (resource.weight != 1) {
      errors.push_back(InvalidNumber(path.Index(i).Child("weight"), resource.weight, "must be 1"));
    }
  }
  return ResultOf(errors);
}

base::Result<void> Validate(const framework::VolumeBindingArgs& args, bool counts_capacity) {
  api::FieldErrors errors;
  if (args.bind_timeout_seconds < 0) {
    errors.push_back(InvalidNumber(api::FieldPath("bindTimeoutSeconds"), args.bind_timeout_seconds,
                                   "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  if (counts_capacity) {
    CheckShape(args.shape, api::FieldPath("shape"), errors);
  } else if (!args.shape.empty() && args.shape != framework::VolumeBindingArgs().shape) {
    errors.push_back(
        "shape: Forbidden: unexpected field `shape`, remove it or turn on the feature gate "
        "StorageCapacityScoring");
  }
  return ResultOf(errors);
}

}  // namespace berth::plugins
