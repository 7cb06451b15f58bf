#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sandbox/patch.h"
#include "sandbox/revision.h"
#include "wire/json_document.h"

// Patches come from anybody and are applied to whatever is there. The first byte says which of the four kinds
// the rest is. None may crash, what is applied must still be an object of its kind or be refused as such, and
// merging or applying the same thing twice is the same as once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::sandbox;
  if (size == 0) return 0;
  static const Resource& resource = ResourceOf("apps/v1", "Deployment");
  static const boost::json::object current = [] {
    const auto text = berth::wire::ParseJson(R"({"kind":"Deployment","apiVersion":"apps/v1",
      "metadata":{"name":"web","namespace":"default","uid":"u","labels":{"a":"b"},"finalizers":["x/y"]},
      "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
      "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}]}],
      "tolerations":[{"key":"k","operator":"Exists"}],"volumes":[{"name":"v","emptyDir":{}}]}}},
      "status":{"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True"}]}})");
    return *Normalize(resource, text->get_object());
  }();
  const auto type = static_cast<PatchType>(data[0] % 4);
  const PatchRequest request{.type = type,
                             .body = {reinterpret_cast<const char*>(data) + 1, size - 1},
                             .field_manager = "fuzz",
                             .force = true,
                             .now = "2026-01-01T00:00:00Z"};
  const ApiResult<boost::json::object> once = ApplyPatch(resource, request, current);
  if (!once) {
    BERTH_CHECK(once.error().code >= 400);
    return 0;
  }
  if (!Normalize(resource, *once)) return 0;
  if (type == PatchType::kMerge || type == PatchType::kApply) {
    const ApiResult<boost::json::object> twice = ApplyPatch(resource, request, *once);
    BERTH_CHECK(twice.has_value() && *twice == *once);
  }
  return 0;
}
