#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "base/utf8.h"
#include "wire/yaml.h"
#include "wire/yaml_scalar.h"

namespace berth::wire {
namespace {

namespace json = boost::json;

// Longer keys are written with a leading "? ": parsers look only so far for the colon.
constexpr std::size_t kSimpleKeyMax = 128;

// Whether a reader takes the character as it is. Line ends are not among these.
bool IsPrintable(const base::DecodedRune& c) {
  if (!c.valid || c.rune < 0x20 || c.rune == 0xfeff) return false;
  if (c.rune >= 0x7f && c.rune < 0xa0) return false;
  return c.rune != 0x2028 && c.rune != 0x2029 && c.rune != 0xfffe && c.rune != 0xffff;
}

bool AllPrintable(std::string_view text, bool allow_line_ends) {
  while (!text.empty()) {
    const base::DecodedRune c = base::DecodeRune(text);
    if (!IsPrintable(c) && !(allow_line_ends && c.rune == '\n')) return false;
    text.remove_prefix(c.width);
  }
  return true;
}

// 12:30:45 is a number to readers of YAML 1.1 other than Kubernetes', so it is quoted for them.
bool LooksLikeBase60(std::string_view text) {
  return text.find_first_not_of("+-0123456789_:.") == std::string_view::npos && text.contains(':');
}

// Whether the text may stand without quotes: it would not be taken for something else, and holds nothing that
// means something to a parser.
bool IsPlain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").contains(text.front())) return false;
  if (std::string_view("-?:").contains(text.front()) && (text.size() == 1 || text[1] == ' ')) return false;
  if (text.starts_with("---") || text.starts_with("...") || text.starts_with("<<")) return false;
  if (text.contains(": ") || text.contains(" #")) return false;
  if (!std::holds_alternative<std::string_view>(ResolveYamlScalar(text)) || LooksLikeBase60(text))
    return false;
  return AllPrintable(text, false);
}

// Whether the text may be a literal block, line by line as it is.
bool IsLiteral(std::string_view text) {
  if (!text.contains('\n') || text.front() == ' ' || text.front() == '\n' || text.back() == ' ') return false;
  return AllPrintable(text, true);
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const base::DecodedRune c = base::DecodeRune(text);
    if (c.rune == '"' || c.rune == '\\') {
      out += '\\';
      out += static_cast<char>(c.rune);
    } else if (c.rune == '\n') {
      out += "\\n";
    } else if (c.rune == '\t') {
      out += "\\t";
    } else if (IsPrintable(c)) {
      out += text.substr(0, c.width);
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(c.rune));
    }
    text.remove_prefix(c.width);
  }
  out += '"';
}

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  // The value of a key or of a list item, up to and including its line end. What is on the line already ends
  // without a blank; `indent` is that of the surrounding map or list.
  void Member(const json::value& value, std::size_t indent, bool in_map) {
    const json::object* object = value.if_object();
    const json::array* array = value.if_array();
    if (object != nullptr && !object->empty()) {
      if (in_map) out_ += '\n';
      Object(*object, indent + 2, !in_map);
    } else if (array != nullptr && !array->empty()) {
      if (in_map) out_ += '\n';
      // The dashes of a list in a map stand right below its key.
      Array(*array, in_map ? indent : indent + 2, !in_map);
    } else {
      out_ += ' ';
      Scalar(value, indent + 2);
    }
  }

  // `on_line`: the first member continues the line of a list's dash.
  void Object(const json::object& object, std::size_t indent, bool on_line) {
    std::vector<std::pair<std::string_view, const json::value*>> members;
    for (const json::key_value_pair& member : object) {
      members.emplace_back(std::string_view(member.key().data(), member.key().size()), &member.value());
    }
    std::ranges::sort(members, {}, [](const auto& member) { return member.first; });
    for (const auto& [key, value] : members) {
      Indent(indent, std::exchange(on_line, false));
      const bool simple = key.size() <= kSimpleKeyMax;
      if (!simple) out_ += "? ";
      if (IsPlain(key)) {
        out_ += key;
      } else {
        AppendQuoted(out_, key);
      }
      if (!simple) {
        out_ += '\n';
        Indent(indent, false);
      }
      out_ += ':';
      Member(*value, indent, simple);
    }
  }

  void Array(const json::array& array, std::size_t indent, bool on_line) {
    for (const json::value& element : array) {
      Indent(indent, std::exchange(on_line, false));
      out_ += '-';
      Member(element, indent, false);
    }
  }

  void Scalar(const json::value& value, std::size_t indent) {
    if (value.is_string()) {
      const std::string_view text(value.get_string().data(), value.get_string().size());
      if (IsLiteral(text)) {
        Literal(text, indent);
        return;
      }
      if (IsPlain(text)) {
        out_ += text;
      } else {
        AppendQuoted(out_, text);
      }
    } else if (value.is_double()) {
      out_ += base::FormatGoFloat(value.get_double());
    } else if (const std::int64_t* number = value.if_int64()) {
      out_ += fmt::format("{}", *number);
    } else if (const std::uint64_t* large = value.if_uint64()) {
      out_ += fmt::format("{}", *large);
    } else if (const bool* truth = value.if_bool()) {
      out_ += *truth ? "true" : "false";
    } else {
      out_ += value.is_null() ? "null" : value.is_array() ? "[]" : "{}";
    }
    out_ += '\n';
  }

 private:
  void Indent(std::size_t indent, bool on_line) {
    if (on_line) {
      out_ += ' ';
    } else {
      out_.append(indent, ' ');
    }
  }

  void Literal(std::string_view text, std::size_t indent) {
    // How many of the line ends at the end belong to the text: none, one, or all.
    out_ += !text.ends_with('\n') ? "|-\n" : text.ends_with("\n\n") ? "|+\n" : "|\n";
    if (text.ends_with('\n')) text.remove_suffix(1);
    while (true) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) out_.append(indent, ' ').append(line);
      out_ += '\n';
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }

  std::string& out_;
};

}  // namespace

std::string WriteYaml(const json::value& value) {
  std::string out;
  YamlWriter writer(out);
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    writer.Object(*object, 0, false);
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    writer.Array(*array, 0, false);
  } else {
    writer.Scalar(value, 2);
  }
  return out;
}

}  // namespace berth::wire
