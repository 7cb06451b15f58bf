#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "api/devices.h"
#include "api/events.h"
#include "api/lease.h"
#include "api/list.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/pod_record.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "base/check.h"
#include "wire/codec.h"
#include "wire/pod_reader.h"

// The first byte chooses a kind, the rest is its message. What decodes must survive an encoding, and a pod
// must become the same record on the short way and on the long one.
namespace berth::wire {
namespace {

template <class T>
void Check(std::string_view bytes) {
  const auto decoded = DecodeProtobuf<T>(bytes);
  if (!decoded) return;
  const auto again = DecodeProtobuf<T>(EncodeProtobuf(*decoded));
  BERTH_CHECK(again.has_value());
  BERTH_CHECK(*again == *decoded);
}

void CheckPod(std::string_view bytes) {
  Check<api::Pod>(bytes);
  api::SharedParts shared;
  PodReader reader(shared);
  auto pod = DecodeProtobuf<api::Pod>(bytes);
  for (int round = 0; round < 2; ++round) {  // the second one finds everything in the caches
    const auto record = reader.Read(bytes);
    BERTH_CHECK(record.has_value() == pod.has_value());
    if (pod) BERTH_CHECK(api::Expand(*record) == api::Expand(api::MakeRecord(api::Pod(*pod), shared)));
  }
}

constexpr void (*kChecks[])(std::string_view) = {
    CheckPod,
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
