#include "base/utf8.h"

#include "base/check.h"

namespace berth::base {
namespace {

constexpr DecodedRune kInvalid{.rune = 0xfffd, .width = 1, .valid = false};

struct Form {
  std::size_t width;
  char32_t lead_bits;
  char32_t smallest;  // what a shorter form could not hold
};

Form FormOf(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return {2, lead & 0x1fU, 0x80};
  if (lead >= 0xe0 && lead <= 0xef) return {3, lead & 0x0fU, 0x800};
  if (lead >= 0xf0 && lead <= 0xf4) return {4, lead & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

DecodedRune DecodeRune(std::string_view text) {
  BERTH_DCHECK(!text.empty());
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.rune = lead, .width = 1, .valid = true};
  const Form form = FormOf(lead);
  if (form.width == 0 || text.size() < form.width) return kInvalid;
  char32_t rune = form.lead_bits;
  for (std::size_t i = 1; i < form.width; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0U) != 0x80) return kInvalid;
    rune = (rune << 6) | (byte & 0x3fU);
  }
  if (rune < form.smallest || rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) return kInvalid;
  return {.rune = rune, .width = form.width, .valid = true};
}

void AppendRune(std::string& out, char32_t rune) {
  const auto tail = [rune](int shift) { return static_cast<char>(0x80U | ((rune >> shift) & 0x3fU)); };
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += {static_cast<char>(0xc0U | (rune >> 6)), tail(0)};
  } else if (rune < 0x10000) {
    out += {static_cast<char>(0xe0U | (rune >> 12)), tail(6), tail(0)};
  } else {
    out += {static_cast<char>(0xf0U | (rune >> 18)), tail(12), tail(6), tail(0)};
  }
}

}  // namespace berth::base
