#include "net/gzip.h"

#include <algorithm>
#include <cstdint>
#include <zlib.h>

#include "base/check.h"

namespace berth::net {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // zlib: 16 more than the window asks for a gzip header
constexpr std::size_t kBlock = 64 * 1024;

// zlib counts in 32 bits, so input goes in by slices.
class Input {
 public:
  explicit Input(std::string_view text) : rest_(text) {}

  void Refill(z_stream& stream) {
    if (stream.avail_in != 0 || rest_.empty()) return;
    const std::size_t slice = std::min<std::size_t>(rest_.size(), std::size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
    stream.avail_in = static_cast<uInt>(slice);
    rest_.remove_prefix(slice);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// What an item of Accept-Encoding says of its coding: "gzip;q=0" refuses, everything else accepts.
bool IsRefused(std::string_view item) {
  const std::size_t mark = item.find(';');
  if (mark == std::string_view::npos) return false;
  std::string_view weight = TrimBlanks(item.substr(mark + 1));
  if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return false;
  weight.remove_prefix(2);
  return weight.starts_with('0') && weight.find_first_of("123456789") == std::string_view::npos;
}

void GiveRoom(std::string& out, z_stream& stream) {
  const std::size_t used = out.size();
  out.resize(used + kBlock);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
  stream.avail_out = static_cast<uInt>(kBlock);
}

}  // namespace

bool AcceptsGzip(const Headers& headers) {
  bool everything = false;
  for (const Headers::Field& field : headers.fields()) {
    if (!EqualsIgnoringCase(field.name, "Accept-Encoding")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string_view item = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::string_view coding = TrimBlanks(item.substr(0, item.find(';')));
      if (EqualsIgnoringCase(coding, "gzip")) return !IsRefused(item);
      if (coding == "*") everything = !IsRefused(item);
    }
  }
  return everything;
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  BERTH_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, 8, Z_DEFAULT_STRATEGY) ==
              Z_OK);
  Input input(text);
  std::string out;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    input.Refill(stream);
    GiveRoom(out, stream);
    status = deflate(&stream, input.at_end() ? Z_FINISH : Z_NO_FLUSH);
    BERTH_CHECK(status == Z_OK || status == Z_STREAM_END);
    out.resize(out.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

base::Result<std::string> Gunzip(std::string_view packed, std::size_t bytes_max) {
  z_stream stream{};
  BERTH_CHECK(inflateInit2(&stream, kGzipWindowBits) == Z_OK);
  Input input(packed);
  std::string out;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= bytes_max) {
    input.Refill(stream);
    GiveRoom(out, stream);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0 && input.at_end();
  inflateEnd(&stream);
  if (out.size() > bytes_max) return base::Fail("gzip: the text is longer than allowed");
  if (!whole) return base::Fail("gzip: the data is torn or is no gzip");
  return out;
}

}  // namespace berth::net
