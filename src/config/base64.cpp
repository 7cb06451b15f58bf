#include "config/base64.h"

#include <absl/strings/escaping.h>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>

namespace berth::config {
namespace {

int SixBits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

std::unexpected<base::Error> Corrupt(std::size_t at) {
  return base::Fail(fmt::format("illegal base64 data at input byte {}", at));
}

}  // namespace

base::Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t in_group = 0;
  const auto skip_breaks = [&](std::size_t at) {
    while (at < text.size() && IsLineBreak(text[at])) ++at;
    return at;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsLineBreak(text[i])) continue;
    if (const int bits = SixBits(text[i]); bits >= 0) {
      group = group << 6 | static_cast<std::uint32_t>(bits);
      if (++in_group < 4) continue;
      for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>(group >> shift & 0xFF));
      group = 0;
      in_group = 0;
      continue;
    }
    if (text[i] != '=' || in_group < 2) return Corrupt(i);
    std::size_t next = skip_breaks(i + 1);
    if (in_group == 2) {
      if (next == text.size()) return Corrupt(text.size());
      if (text[next] != '=') return Corrupt(next);
      next = skip_breaks(next + 1);
    }
    if (next < text.size()) return Corrupt(next);
    group <<= 6 * (4 - in_group);
    bytes.push_back(static_cast<char>(group >> 16 & 0xFF));
    if (in_group == 3) bytes.push_back(static_cast<char>(group >> 8 & 0xFF));
    return bytes;
  }
  if (in_group > 0) return Corrupt(text.size() - in_group);
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) { return absl::Base64Escape({bytes.data(), bytes.size()}); }

}  // namespace berth::config
