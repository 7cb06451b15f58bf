// The strings extension, without format.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/limits.h"
#include "cel/registry.h"
#include "cel/string_format.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value OutOfRange(std::int64_t index) { return Value::Error(fmt::format("index out of range: {}", index)); }

// The byte where a code point starts. Requires at most as many as there are.
std::size_t ByteOf(std::string_view text, std::int64_t code_points) {
  std::size_t at = 0;
  for (; code_points > 0; --code_points) at += DecodeFirst(text.substr(at)).length;
  return at;
}

Value CharAt(Arguments arguments) {
  const std::string_view text = arguments[0].text();
  const std::int64_t index = arguments[1].integer();
  const std::int64_t length = CodePointCount(text);
  if (index < 0 || index > length) return OutOfRange(index);
  if (index == length) return Value::String("");
  const std::size_t start = ByteOf(text, index);
  return Value::String(std::string(text.substr(start, DecodeFirst(text.substr(start)).length)));
}

// From which code point to search; what is beyond the text finds nothing, and an empty part is found
// anywhere.
Value Search(Arguments arguments, bool last) {
  const std::u32string text = Decode(arguments[0].text());
  const std::u32string part = Decode(arguments[1].text());
  const auto length = static_cast<std::int64_t>(text.size());
  std::int64_t offset = last ? length : 0;
  if (arguments.size() == 3) {
    offset = arguments[2].integer();
    if (offset < 0) return OutOfRange(offset);
  }
  if (part.empty()) return Value::Int(std::min(offset, length));
  if (arguments.size() == 3 && offset >= length) return Value::Int(-1);
  const std::size_t found = last ? text.rfind(part, static_cast<std::size_t>(offset))
                                 : text.find(part, static_cast<std::size_t>(offset));
  return Value::Int(found == std::u32string::npos ? -1 : static_cast<std::int64_t>(found));
}

Value IndexOf(Arguments arguments) { return Search(arguments, false); }
Value LastIndexOf(Arguments arguments) { return Search(arguments, true); }

template <class Change>
Value MapBytes(const std::string& text, Change change) {
  std::string changed = text;
  std::transform(changed.begin(), changed.end(), changed.begin(), change);
  return Value::String(std::move(changed));
}

Value LowerAscii(Arguments arguments) {
  return MapBytes(arguments[0].text(),
                  [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}
Value UpperAscii(Arguments arguments) {
  return MapBytes(arguments[0].text(),
                  [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

// Where the part is found next, at or after the byte. An empty part stands before every code point and at the
// end.
std::size_t NextMatch(std::string_view text, std::string_view part, std::size_t from, bool first) {
  if (!part.empty()) return text.find(part, from);
  if (first) return 0;
  return from >= text.size() ? std::string_view::npos : from + DecodeFirst(text.substr(from)).length;
}

Value Replace(Arguments arguments) {
  const std::string_view text = arguments[0].text();
  const std::string_view part = arguments[1].text();
  const std::string_view with = arguments[2].text();
  std::int64_t count = arguments.size() == 4 ? arguments[3].integer() : -1;
  if (count < 0) count = std::numeric_limits<std::int64_t>::max();
  std::string replaced;
  std::size_t copied = 0;
  std::size_t from = 0;
  for (bool first = true; count > 0; --count, first = false) {
    const std::size_t match = NextMatch(text, part, from, first);
    if (match == std::string_view::npos) break;
    replaced += text.substr(copied, match - copied);
    replaced += with;
    if (replaced.size() > kStringBytesMax) return Value::Error("result of replace is too large");
    copied = match + part.size();
    from = copied;
  }
  replaced += text.substr(copied);
  return Value::String(std::move(replaced));
}

Value Split(Arguments arguments) {
  std::string_view text = arguments[0].text();
  const std::string_view separator = arguments[1].text();
  std::int64_t count = arguments.size() == 3 ? arguments[2].integer() : -1;
  List parts;
  if (count == 0) return Value::OfList({});
  if (count < 0) count = std::numeric_limits<std::int64_t>::max();
  const auto take = [&](std::size_t length, std::size_t skip) {
    parts.push_back(Value::String(std::string(text.substr(0, length))));
    text.remove_prefix(length + skip);
  };
  if (separator.empty()) {
    while (!text.empty() && std::cmp_less(parts.size() + 1, count)) take(DecodeFirst(text).length, 0);
    if (!text.empty()) take(text.size(), 0);
    return Value::OfList(std::move(parts));
  }
  while (std::cmp_less(parts.size() + 1, count)) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    take(end, separator.size());
  }
  take(text.size(), 0);
  return Value::OfList(std::move(parts));
}

Value Substring(Arguments arguments) {
  const std::string_view text = arguments[0].text();
  const std::int64_t length = CodePointCount(text);
  const std::int64_t start = arguments[1].integer();
  const std::int64_t end = arguments.size() == 3 ? arguments[2].integer() : length;
  if (arguments.size() == 3 && start > end) {
    return Value::Error(fmt::format("invalid substring range. start: {}, end: {}", start, end));
  }
  if (start < 0 || start > length) return OutOfRange(start);
  if (end < 0 || end > length) return OutOfRange(end);
  const std::size_t first = ByteOf(text, start);
  return Value::String(std::string(text.substr(first, ByteOf(text.substr(first), end - start))));
}

// Unicode's White_Space.
bool IsSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

Value Trim(Arguments arguments) {
  const std::u32string text = Decode(arguments[0].text());
  const auto first = std::find_if_not(text.begin(), text.end(), IsSpace);
  const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), IsSpace).base();
  return Value::String(Encode(std::u32string(first, last)));
}

Value Join(Arguments arguments) {
  const std::string separator = arguments.size() == 2 ? arguments[1].text() : "";
  std::string joined;
  bool first = true;
  for (const Value& item : arguments[0].list()) {
    if (item.kind() != Kind::kString) return Value::Error("join: invalid input: " + KeyText(item));
    if (!first) joined += separator;
    first = false;
    joined += item.text();
    if (joined.size() > kStringBytesMax) return Value::Error("result of join is too large");
  }
  return Value::String(std::move(joined));
}

Value Quote(Arguments arguments) {
  std::string quoted = "\"";
  for (const char c : arguments[0].text()) {
    const char letter = EscapeLetter(static_cast<unsigned char>(c));
    if (letter != '\0') quoted += '\\';
    quoted += letter == '\0' ? c : letter;
  }
  return Value::String(quoted + "\"");
}

Value Format(Arguments arguments) {
  auto text = FormatValues(arguments[0].text(), arguments[1].list());
  return text ? Value::String(std::move(*text)) : Value::Error(text.error().message);
}

}  // namespace

void RegisterStrings(Registry& r) {
  r.Method("charAt", "string_char_at_int", "(string, int) -> string", CharAt);
  r.Method("indexOf", "string_index_of_string", "(string, string) -> int", IndexOf);
  r.Method("indexOf", "string_index_of_string_int", "(string, string, int) -> int", IndexOf);
  r.Method("lastIndexOf", "string_last_index_of_string", "(string, string) -> int", LastIndexOf);
  r.Method("lastIndexOf", "string_last_index_of_string_int", "(string, string, int) -> int", LastIndexOf);
  r.Method("lowerAscii", "string_lower_ascii", "(string) -> string", LowerAscii);
  r.Method("upperAscii", "string_upper_ascii", "(string) -> string", UpperAscii);
  r.Method("replace", "string_replace_string_string", "(string, string, string) -> string", Replace);
  r.Method("replace", "string_replace_string_string_int", "(string, string, string, int) -> string", Replace);
  r.Method("split", "string_split_string", "(string, string) -> list(string)", Split);
  r.Method("split", "string_split_string_int", "(string, string, int) -> list(string)", Split);
  r.Method("substring", "string_substring_int", "(string, int) -> string", Substring);
  r.Method("substring", "string_substring_int_int", "(string, int, int) -> string", Substring);
  r.Method("trim", "string_trim", "(string) -> string", Trim);
  r.Method("join", "list_join", "(list(string)) -> string", Join);
  r.Method("join", "list_join_string", "(list(string), string) -> string", Join);
  r.Method("format", "string_format", "(string, list(dyn)) -> string", Format);
  r.Global("strings.quote", "strings_quote", "(string) -> string", Quote);
}

}  // namespace berth::cel
