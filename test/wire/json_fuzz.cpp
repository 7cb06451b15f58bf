#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/codec.h"
#include "wire/fuzzed_kinds.h"

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

}  // namespace
}  // namespace berth::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  berth::wire::test::CheckChosenKind(data, size,
                                     []<class T>(std::string_view text) { berth::wire::Check<T>(text); });
  return 0;
}
