#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http_parser.h"
#include "net/url.h"

// The first byte is the size of the parts in which the rest arrives. Whole or in parts, the same request
// comes out, and what is a query is read and written back.
namespace berth::net {
namespace {

constexpr ParserLimits kLimits{.header_bytes_max = 4096, .body_bytes_max = 4096};

void FeedInParts(RequestParser& parser, std::string_view bytes, std::size_t part) {
  std::string pending;
  while (!bytes.empty()) {
    pending.append(bytes.substr(0, part));
    bytes.remove_prefix(std::min(part, bytes.size()));
    pending.erase(0, parser.Feed(pending));
  }
}

void Check(std::size_t part, std::string_view bytes) {
  RequestParser whole(kLimits);
  whole.Feed(bytes);
  RequestParser parts(kLimits);
  FeedInParts(parts, bytes, part);
  BERTH_CHECK((whole.state() == ParseState::kComplete) == (parts.state() == ParseState::kComplete));
  if (whole.state() != ParseState::kComplete) return;
  BERTH_CHECK(whole.target() == parts.target() && whole.body() == parts.body() &&
              whole.headers() == parts.headers());
  const std::size_t mark = whole.target().find('?');
  if (mark == std::string::npos) return;
  if (const auto pairs = ParseQuery(std::string_view(whole.target()).substr(mark + 1))) {
    BERTH_CHECK(*ParseQuery(EncodeQuery(*pairs)) == *pairs);
  }
}

}  // namespace
}  // namespace berth::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  berth::net::Check(data[0] % 64 + std::size_t{1}, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
