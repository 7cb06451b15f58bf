#include "api/resource_names.h"

#include <string>
#include <string_view>

#include "api/validation.h"

namespace berth::api {
namespace {

constexpr std::string_view kNativeDomain = "kubernetes.io/";
constexpr std::string_view kQuotaPrefix = "requests.";

}  // namespace

bool IsHugePageResource(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsExtendedResource(std::string_view name) {
  if (!name.contains('/') || name.contains(kNativeDomain) || name.starts_with(kQuotaPrefix)) return false;
  // A quota has to be able to name it.
  return LabelKeyProblems(std::string(kQuotaPrefix) + std::string(name)).empty();
}

bool IsScalarResource(std::string_view name) {
  return IsHugePageResource(name) || name.contains(kNativeDomain) ||
         name.starts_with("attachable-volumes-") || IsExtendedResource(name);
}

bool IsPodLevelResource(std::string_view name) {
  return name == kCpu || name == kMemory || IsHugePageResource(name);
}

}  // namespace berth::api
