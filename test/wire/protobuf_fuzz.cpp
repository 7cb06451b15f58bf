#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "api/pod.h"
#include "api/pod_record.h"
#include "base/check.h"
#include "wire/codec.h"
#include "wire/fuzzed_kinds.h"
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

void CheckRecord(std::string_view bytes) {
  api::SharedParts shared;
  PodReader reader(shared);
  auto pod = DecodeProtobuf<api::Pod>(bytes);
  for (int round = 0; round < 2; ++round) {  // the second one finds everything in the caches
    const auto record = reader.Read(bytes);
    BERTH_CHECK(record.has_value() == pod.has_value());
    if (pod) BERTH_CHECK(api::Expand(*record) == api::Expand(api::MakeRecord(api::Pod(*pod), shared)));
  }
}

}  // namespace
}  // namespace berth::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  berth::wire::test::CheckChosenKind(data, size, []<class T>(std::string_view bytes) {
    berth::wire::Check<T>(bytes);
    if constexpr (std::is_same_v<T, berth::api::Pod>) berth::wire::CheckRecord(bytes);
  });
  return 0;
}
