#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/go_duration.h"
#include "base/go_text.h"
#include "base/printable.h"
#include "base/utf8.h"

// Durations and quoting meet text from flags, files and servers. A duration that is accepted must survive
// being written and read again; quoted text must be printable UTF-8.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Result<Duration> parsed = ParseGoDuration(text)) {
    const Result<Duration> again = ParseGoDuration(FormatGoDuration(*parsed));
    if (!again.has_value() || *again != *parsed) std::abort();
  }
  const std::string quoted = QuoteGo(text);
  std::string_view rest = quoted;
  while (!rest.empty()) {
    const DecodedRune decoded = DecodeRune(rest);
    if (!decoded.valid || !IsPrintable(decoded.rune)) std::abort();
    rest.remove_prefix(decoded.width);
  }
  return 0;
}
