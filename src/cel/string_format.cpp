#include "cel/string_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "cel/double_text.h"
#include "cel/limits.h"
#include "cel/time.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

using Text = base::Result<std::string>;

constexpr std::string_view kVerbs = "sdfebxXo";

Text WithQuotes(const Value& value);

Text FormatList(const List& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto item = WithQuotes(list[i]);
    if (!item) return item;
    if (i > 0) text += ", ";
    text += *item;
    if (text.size() > kStringBytesMax) return base::Fail("result of format is too large");
  }
  return text + "]";
}

Text FormatMap(const Map& map) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [key, value] : map.entries) {
    switch (key.kind()) {
      case Kind::kString:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kUint:
        break;
      default:
        return base::Fail(fmt::format("no formatting function for map key of type {}", TypeName(key)));
    }
    auto key_text = WithQuotes(key);
    if (!key_text) return key_text;
    auto value_text = WithQuotes(value);
    if (!value_text) return value_text;
    entries.emplace_back(std::move(*key_text), std::move(*value_text));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::string text = "{";
  for (const auto& [key, value] : entries) {
    if (text.size() > 1) text += ", ";
    text += key + ":" + value;
    if (text.size() > kStringBytesMax) return base::Fail("result of format is too large");
  }
  return text + "}";
}

// %s.
Text Plain(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
      return FormatList(value.list());
    case Kind::kMap:
      return FormatMap(value.map());
    case Kind::kBytes:
      if (!IsValidUtf8(value.text())) {
        return base::Fail(
            "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string");
      }
      return value.text();
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kDuration:
    case Kind::kTimestamp:
    case Kind::kType:
      return KeyText(value);
    default:
      return base::Fail(FormatTypeProblem('s', TypeName(value)));
  }
}

// Inside lists and maps values read as literals.
Text WithQuotes(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return GoQuote(value.text());
    case Kind::kBytes: {
      auto text = Plain(value);
      if (text) *text = "b" + GoQuote(*text);
      return text;
    }
    case Kind::kDouble: {
      const std::string text = FixedDoubleText(value.number(), 6);
      return std::isfinite(value.number()) ? text : GoQuote(text);
    }
    case Kind::kDuration:
      return fmt::format("duration({})", GoQuote(DurationText(value.integer())));
    case Kind::kTimestamp:
      return fmt::format("timestamp({})", GoQuote(TimestampText(value.instant())));
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kIp:
    case Kind::kCidr:
    case Kind::kUrl:
    case Kind::kFormat:
    case Kind::kOptional:
      return base::Fail(fmt::format("no formatting function for {}", TypeName(value)));
    default:
      return Plain(value);
  }
}

// The number of %f and %e, which take some words for numbers as well.
base::Result<double> DoubleOf(const Value& value, char verb) {
  if (value.kind() == Kind::kDouble) return value.number();
  if (value.kind() == Kind::kString) {
    if (value.text() == "NaN") return std::nan("");
    if (value.text() == "Infinity") return HUGE_VAL;
    if (value.text() == "-Infinity") return -HUGE_VAL;
  }
  return base::Fail(FormatTypeProblem(verb, TypeName(value)));
}

std::string NotFinite(double number) {
  if (std::isnan(number)) return "NaN";
  return number > 0 ? "\u221e" : "-\u221e";
}

// English, with thousands separators.
std::string Fixed(double number, int precision) {
  if (!std::isfinite(number)) return NotFinite(number);
  std::string text = FixedDoubleText(std::fabs(number), precision);
  const std::size_t whole = std::min(text.find('.'), text.size());
  for (std::size_t i = whole; i > 3; i -= 3) text.insert(i - 3, ",");
  // Minus zero has no sign, a small negative number has.
  return number < 0 ? "-" + text : text;
}

// Always six digits: upstream takes the precision for a width.
std::string Scientific(double number) {
  constexpr const char* kSuperscripts[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                           "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  if (!std::isfinite(number)) return NotFinite(number);
  const std::string text = fmt::format("{:.6e}", number == 0 ? 0.0 : number);
  const std::size_t mark = text.find('e');
  std::string formatted = text.substr(0, mark) + "\u00d710";
  if (text[mark + 1] == '-') formatted += "\u207b";
  for (const char digit : text.substr(mark + 2)) formatted += kSuperscripts[digit - '0'];
  return formatted;
}

std::string HexOfBytes(std::string_view bytes, bool upper) {
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    text += upper ? fmt::format("{:02X}", number) : fmt::format("{:02x}", number);
  }
  return text;
}

// %d, %b, %o, %x and %X of an integer.
template <class Number>
std::string Integer(Number number, char verb) {
  switch (verb) {
    case 'b':
      return fmt::format("{:b}", number);
    case 'o':
      return fmt::format("{:o}", number);
    case 'x':
      return fmt::format("{:x}", number);
    case 'X':
      return fmt::format("{:X}", number);
    default:
      return fmt::format("{}", number);
  }
}

Text FormatOne(const Value& value, const FormatClause& clause) {
  switch (clause.verb) {
    case 's':
      return Plain(value);
    case 'f':
    case 'e': {
      const auto number = DoubleOf(value, clause.verb);
      if (!number) return std::unexpected(number.error());
      return clause.verb == 'f' ? Fixed(*number, clause.precision) : Scientific(*number);
    }
    default:
      break;
  }
  if (value.kind() == Kind::kInt) return Integer(value.integer(), clause.verb);
  if (value.kind() == Kind::kUint) return Integer(value.unsigned_integer(), clause.verb);
  if (clause.verb == 'b' && value.kind() == Kind::kBool) return value.boolean() ? "1" : "0";
  const bool hex = clause.verb == 'x' || clause.verb == 'X';
  if (hex && (value.kind() == Kind::kString || value.kind() == Kind::kBytes)) {
    return HexOfBytes(value.text(), clause.verb == 'X');
  }
  return base::Fail(FormatTypeProblem(clause.verb, TypeName(value)));
}

// Takes ".3f" off the front.
base::Result<FormatClause> TakeClause(std::string_view& rest) {
  constexpr std::string_view kBadPrecision =
      "could not parse formatting clause: error while parsing precision: ";
  FormatClause clause;
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos) {
      return base::Fail(fmt::format("{}could not find end of precision specifier", kBadPrecision));
    }
    const std::string_view digits = rest.substr(1, end - 1);
    const auto [last, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), clause.precision);
    if (error == std::errc::invalid_argument) {
      return base::Fail(
          fmt::format("{}error while converting precision to integer: strconv.Atoi: parsing \"{}\": "
                      "invalid syntax",
                      kBadPrecision, digits));
    }
    if (error != std::errc() || clause.precision > kFormatPrecisionMax) {
      return base::Fail(fmt::format("{}precision {} exceeds maximum allowed precision {}", kBadPrecision,
                                    digits, kFormatPrecisionMax));
    }
    rest.remove_prefix(end);
  }
  clause.verb = rest.front();
  if (!kVerbs.contains(clause.verb)) {
    std::string shown;
    AppendUtf8(shown, static_cast<unsigned char>(clause.verb));
    return base::Fail(
        fmt::format("could not parse formatting clause: unrecognized formatting clause \"{}\"", shown));
  }
  rest.remove_prefix(1);
  return clause;
}

}  // namespace

std::string FormatTypeProblem(char verb, std::string_view given) {
  const auto rule = [verb]() -> std::string_view {
    switch (verb) {
      case 's':
        return "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
               "durations, "
               "and timestamps";
      case 'd':
        return "decimal clause can only be used on integers";
      case 'f':
        return "fixed-point clause can only be used on doubles";
      case 'e':
        return "scientific clause can only be used on doubles";
      case 'b':
        return "only integers and bools can be formatted as binary";
      case 'o':
        return "octal clause can only be used on integers";
      default:
        return "only integers, byte buffers, and strings can be formatted as hex";
    }
  };
  return fmt::format("{}, was given {}", rule(), given);
}

Text WalkFormat(std::string_view format, std::size_t argument_count, FormatPhase phase,
                const FormatHandler& handler) {
  std::string text;
  std::size_t argument = 0;
  std::string_view rest = format;
  while (!rest.empty()) {
    const std::size_t percent = std::min(rest.find('%'), rest.size());
    text += rest.substr(0, percent);
    rest.remove_prefix(percent);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    if (rest.starts_with('%')) {
      text += '%';
      rest.remove_prefix(1);
      continue;
    }
    if (rest.empty() && phase == FormatPhase::kCheck) return base::Fail("unexpected end of string");
    if (argument >= argument_count) return base::Fail(fmt::format("index {} out of range", argument));
    if (rest.empty()) return base::Fail("unexpected end of string");
    auto clause = TakeClause(rest);
    if (!clause) return std::unexpected(clause.error());
    clause->argument = argument++;
    const auto formatted = handler(*clause);
    if (!formatted) return base::Fail("error during formatting: " + formatted.error().message);
    text += *formatted;
    if (text.size() > kStringBytesMax) return base::Fail("result of format is too large");
  }
  return text;
}

Text FormatValues(std::string_view format, const List& arguments) {
  return WalkFormat(format, arguments.size(), FormatPhase::kRun, [&](const FormatClause& clause) {
    return FormatOne(arguments[clause.argument], clause);
  });
}

}  // namespace berth::cel
