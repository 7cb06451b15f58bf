#include "cel/net.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

#include "fmt/format.h"

#include "cel/utf8.h"

namespace berth::cel {
namespace {

constexpr std::size_t kV6Size = 16;

// Parses one address; the messages name the whole input and, where it helps, the place.
class AddressParser {
 public:
  explicit AddressParser(std::string_view input) : input_(input), rest_(input) {}

  base::Result<ParsedIp> Parse() {
    const std::size_t mark = input_.find_first_of(".:%");
    if (mark == std::string_view::npos) return Failed("unable to parse IP");
    if (input_[mark] == '%') return Failed("missing IPv6 address");
    if (input_[mark] == ':') return ParseV6();
    ParsedIp parsed;
    const auto fields = ParseV4Fields(input_, std::span(parsed.address.bytes).first<4>());
    if (!fields) return std::unexpected(fields.error());
    return parsed;
  }

 private:
  std::unexpected<base::Error> Failed(std::string_view why, std::string_view at = {}) const {
    std::string text = fmt::format("ParseAddr({}): {}", GoQuote(input_), why);
    if (!at.empty()) text += fmt::format(" (at {})", GoQuote(at));
    return base::Fail(std::move(text));
  }

  base::Result<bool> ParseV4Fields(std::string_view text, std::span<std::uint8_t, 4> fields) const {
    std::size_t field = 0;
    int value = 0;
    int digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c >= '0' && c <= '9') {
        if (digits == 1 && value == 0) return Failed("IPv4 field has octet with leading zero");
        value = value * 10 + (c - '0');
        ++digits;
        if (value > 255) return Failed("IPv4 field has value >255");
      } else if (c == '.') {
        if (i == 0 || i + 1 == text.size() || text[i - 1] == '.') {
          return Failed("IPv4 field must have at least one digit", text.substr(i));
        }
        if (field == 3) return Failed("IPv4 address too long");
        fields[field++] = static_cast<std::uint8_t>(value);
        value = 0;
        digits = 0;
      } else {
        return Failed("unexpected character", text.substr(i));
      }
    }
    if (field < 3) return Failed("IPv4 address too short");
    fields[3] = static_cast<std::uint8_t>(value);
    return true;
  }

  base::Result<ParsedIp> ParseV6() {
    if (const std::size_t percent = rest_.find('%'); percent != std::string_view::npos) {
      if (percent + 1 == rest_.size()) return Failed("zone must be a non-empty string");
      rest_ = rest_.substr(0, percent);
      parsed_.has_zone = true;
    }
    parsed_.address.v6 = true;
    if (rest_.starts_with("::")) {
      has_gap_ = true;
      rest_.remove_prefix(2);
      if (rest_.empty()) return parsed_;
    }
    while (filled_ < kV6Size) {
      const auto more = ParseGroup();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
    }
    if (!rest_.empty()) return Failed("trailing garbage after address", rest_);
    if (filled_ == kV6Size) {
      if (has_gap_) return Failed("the :: must expand to at least one field of zeros");
      return parsed_;
    }
    if (!has_gap_) return Failed("address string too short");
    auto& bytes = parsed_.address.bytes;
    // What was read after the gap moves to the end.
    const auto gap = bytes.begin() + static_cast<std::ptrdiff_t>(gap_);
    const auto filled = bytes.begin() + static_cast<std::ptrdiff_t>(filled_);
    std::fill(std::move_backward(gap, filled, bytes.end()) - static_cast<std::ptrdiff_t>(kV6Size - filled_),
              bytes.end() - (filled - gap), std::uint8_t{0});
    return parsed_;
  }

  // One group of hex digits with the colon after it, or a trailing IPv4 address; false at the end.
  base::Result<bool> ParseGroup() {
    auto& bytes = parsed_.address.bytes;
    std::size_t length = 0;
    unsigned value = 0;
    for (; length < rest_.size() && HexDigit(rest_[length]) >= 0; ++length) {
      if (length > 3) return Failed("each group must have 4 or less digits", rest_);
      value = value * 16 + static_cast<unsigned>(HexDigit(rest_[length]));
    }
    if (length == 0) return Failed("each colon-separated field must have at least one digit", rest_);
    if (length < rest_.size() && rest_[length] == '.') {
      if (!has_gap_ && filled_ != 12) {
        return Failed("embedded IPv4 address must replace the final 2 fields of the address", rest_);
      }
      if (filled_ + 4 > kV6Size) {
        return Failed("too many hex fields to fit an embedded IPv4 at the end of the address", rest_);
      }
      const auto fields = ParseV4Fields(rest_, std::span(bytes).subspan(filled_).first<4>());
      if (!fields) return fields;
      filled_ += 4;
      rest_ = {};
      return false;
    }
    bytes[filled_] = static_cast<std::uint8_t>(value >> 8);
    bytes[filled_ + 1] = static_cast<std::uint8_t>(value & 0xFF);
    filled_ += 2;
    rest_.remove_prefix(length);
    if (rest_.empty()) return false;
    if (rest_.front() != ':') return Failed("unexpected character, want colon", rest_);
    if (rest_.size() == 1) return Failed("colon must be followed by more characters", rest_);
    rest_.remove_prefix(1);
    if (rest_.front() == ':') {
      if (has_gap_) return Failed("multiple :: in address", rest_);
      has_gap_ = true;
      gap_ = filled_;
      rest_.remove_prefix(1);
      if (rest_.empty()) return false;
    }
    return true;
  }

  std::string_view input_;
  std::string_view rest_;
  ParsedIp parsed_;
  std::size_t filled_ = 0;
  bool has_gap_ = false;
  std::size_t gap_ = 0;  // where in the bytes the :: stands
};

base::Result<int> PrefixLength(std::string_view text, int max) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  const bool padded = text.size() > 1 && (text.front() < '1' || text.front() > '9');
  if (padded || error != std::errc() || end != text.data() + text.size()) {
    return base::Fail("bad bits after slash: " + GoQuote(text));
  }
  if (bits < 0 || bits > max) return base::Fail("prefix length out of range");
  return bits;
}

std::string V6Text(const IpAddress& address) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  }
  // The longest run of at least two zero groups is written as "::"; of equal runs the first.
  std::size_t start = groups.size();
  std::size_t best = 1;
  for (std::size_t i = 0; i < groups.size();) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > best) {
      best = end - i;
      start = i;
    }
    i = std::max(end, i + 1);
  }
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == start) {
      text += "::";
      i += best - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

}  // namespace

bool IpAddress::IsV4Mapped() const {
  return v6 && std::all_of(bytes.begin(), bytes.begin() + 10, [](auto byte) { return byte == 0; }) &&
         bytes[10] == 0xFF && bytes[11] == 0xFF;
}

bool IpAddress::IsUnspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](auto byte) { return byte == 0; });
}

bool IpAddress::IsLoopback() const {
  if (!v6) return bytes[0] == 127;
  return bytes[15] == 1 && std::all_of(bytes.begin(), bytes.end() - 1, [](auto byte) { return byte == 0; });
}

bool IpAddress::IsLinkLocalUnicast() const {
  if (!v6) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}

bool IpAddress::IsLinkLocalMulticast() const {
  if (!v6) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xFF && (bytes[1] & 0x0F) == 0x02;
}

bool IpAddress::IsGlobalUnicast() const {
  const bool broadcast =
      !v6 && std::all_of(bytes.begin(), bytes.begin() + 4, [](auto byte) { return byte == 0xFF; });
  const bool multicast = v6 ? bytes[0] == 0xFF : (bytes[0] & 0xF0) == 0xE0;
  return !broadcast && !multicast && !IsUnspecified() && !IsLoopback() && !IsLinkLocalUnicast();
}

IpPrefix IpPrefix::Masked() const {
  IpPrefix masked = *this;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const int keep = std::clamp(length - static_cast<int>(8 * i), 0, 8);
    masked.address.bytes[i] &= static_cast<std::uint8_t>(0xFF00 >> keep);
  }
  return masked;
}

bool IpPrefix::Contains(const IpAddress& other) const {
  return other.v6 == address.v6 && IpPrefix{other, length}.Masked() == Masked();
}

base::Result<ParsedIp> ParseAddress(std::string_view text) { return AddressParser(text).Parse(); }

base::Result<IpAddress> ParseIp(std::string_view text) {
  const auto parsed = ParseAddress(text);
  if (!parsed) {
    return base::Fail(fmt::format("IP Address {} parse error during conversion from string: {}",
                                  GoQuote(text), parsed.error().message));
  }
  if (parsed->has_zone) {
    return base::Fail(fmt::format("IP address {} with zone value is not allowed", GoQuote(text)));
  }
  if (parsed->address.IsV4Mapped()) {
    return base::Fail(fmt::format("IPv4-mapped IPv6 address {} is not allowed", GoQuote(text)));
  }
  return parsed->address;
}

base::Result<IpPrefix> ParseCidr(std::string_view text) {
  const auto failed = [text](std::string_view why) {
    return base::Fail(
        fmt::format("network address parse error during conversion from string: "
                    "netip.ParsePrefix({}): {}",
                    GoQuote(text), why));
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return failed("no '/'");
  const auto parsed = ParseAddress(text.substr(0, slash));
  if (!parsed) return failed(parsed.error().message);
  if (parsed->has_zone) return failed("IPv6 zones cannot be present in a prefix");
  const auto length = PrefixLength(text.substr(slash + 1), parsed->address.v6 ? 128 : 32);
  if (!length) return failed(length.error().message);
  if (parsed->address.IsV4Mapped()) {
    return base::Fail(fmt::format("IPv4-mapped IPv6 address {} is not allowed", GoQuote(text)));
  }
  return IpPrefix{parsed->address, *length};
}

std::string IpText(const IpAddress& address) {
  if (address.v6) return V6Text(address);
  return fmt::format("{}.{}.{}.{}", address.bytes[0], address.bytes[1], address.bytes[2], address.bytes[3]);
}

std::string CidrText(const IpPrefix& prefix) {
  return fmt::format("{}/{}", IpText(prefix.address), prefix.length);
}

}  // namespace berth::cel
