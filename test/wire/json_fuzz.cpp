#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "api/devices.h"
#include "api/events.h"
#include "api/lease.h"
#include "api/list.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "base/check.h"
#include "wire/codec.h"

// The first byte chooses a kind, the rest is JSON. What decodes must survive an encoding.
namespace berth::wire {
namespace {

template <class T>
void Check(std::string_view text) {
  // Strict reading refuses more, and never reads anything else.
  const auto strict = DecodeJson<T>(text, Strictness::kStrict);
  const auto decoded = DecodeJson<T>(text);
  BERTH_CHECK(decoded.has_value() || !strict.has_value());
  if (!decoded) return;
  BERTH_CHECK(!strict || *strict == *decoded);
  // A pointer to a zero time is written as null and then read as no pointer, so only the second text is
  // stable.
  const auto again = DecodeJson<T>(EncodeJson(*decoded), Strictness::kStrict);
  if (!again) {
    // An offset can carry a time out of the years that RFC 3339 can write. Go prints such times all the same.
    BERTH_CHECK(again.error().message.contains("parsing time"));
    return;
  }
  const std::string text_again = EncodeJson(*again);
  BERTH_CHECK(EncodeJson(*DecodeJson<T>(text_again)) == text_again);
  BERTH_CHECK(DecodeProtobuf<T>(EncodeProtobuf(*decoded)) == decoded);
}

constexpr void (*kChecks[])(std::string_view) = {
    Check<api::Pod>,
    Check<api::Node>,
    Check<api::List<api::Pod>>,
    Check<api::PersistentVolume>,
    Check<api::PersistentVolumeClaim>,
    Check<api::ResourceClaim>,
    Check<api::ResourceSlice>,
    Check<api::DeviceClass>,
    Check<api::PodGroup>,
    Check<api::CompositePodGroup>,
    Check<api::Lease>,
    Check<api::Event>,
    Check<api::CoreEvent>,
    Check<api::PodDisruptionBudget>,
    Check<api::CSIStorageCapacity>,
    Check<api::Status>,
};

}  // namespace
}  // namespace berth::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  berth::wire::kChecks[data[0] % std::size(berth::wire::kChecks)](bytes);
  return 0;
}
