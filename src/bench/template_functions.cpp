#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/go_text.h"
#include "bench/template_parts.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

using Arguments = std::span<const json::value>;
using Function = base::Result<json::value> (*)(Arguments);

constexpr double kIntegerMax = 9.2e18;

std::string Shown(const json::value& value) {
  std::string text;
  AppendTemplateValue(text, value);
  return text;
}

// The whole text as a number.
template <class T>
std::optional<T> ReadNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

base::Result<double> ToFloat(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  if (value.is_string()) {
    if (const auto number = ReadNumber<double>(value.as_string())) return *number;
  }
  return base::Fail(fmt::format("cannot cast {} to float64", Shown(value)));
}

base::Result<json::value> ToInteger(double number) {
  if (!(std::abs(number) < kIntegerMax)) return base::Fail(fmt::format("{} is no int", number));
  return static_cast<std::int64_t>(number);
}

base::Result<json::value> ToReal(double number) { return json::value(number); }

double Add(double a, double b) { return a + b; }
double Multiply(double a, double b) { return a * b; }
double Subtract(double a, double b) { return a - b; }
double Divide(double a, double b) { return a / b; }

// Any number of arguments, from the left.
template <double (*combine)(double, double), base::Result<json::value> (*finish)(double)>
base::Result<json::value> Fold(Arguments arguments) {
  double result = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto number = ToFloat(arguments[i]);
    if (!number) return std::unexpected(number.error());
    result = i == 0 ? *number : combine(result, *number);
  }
  return finish(result);
}

template <double (*combine)(double, double), base::Result<json::value> (*finish)(double)>
base::Result<json::value> Two(Arguments arguments) {
  if (arguments.size() != 2) return base::Fail(fmt::format("want 2 arguments, got {}", arguments.size()));
  if constexpr (combine == Divide) {
    const auto divisor = ToFloat(arguments[1]);
    if (divisor && *divisor == 0) return base::Fail("division by zero");
  }
  return Fold<combine, finish>(arguments);
}

base::Result<json::value> Int(Arguments arguments) {
  if (arguments.size() != 1) return base::Fail(fmt::format("want 1 argument, got {}", arguments.size()));
  const json::value& value = arguments[0];
  if (value.is_string()) {
    if (const auto number = ReadNumber<std::int64_t>(value.as_string())) return json::value(*number);
    return base::Fail(fmt::format("cannot cast {} to int", Shown(value)));
  }
  const auto number = ToFloat(value);
  if (!number) return base::Fail(fmt::format("cannot cast {} to int", Shown(value)));
  return ToInteger(*number);
}

base::Result<json::value> Mod(Arguments arguments) {
  if (arguments.size() != 2) return base::Fail(fmt::format("want 2 arguments, got {}", arguments.size()));
  std::int64_t numbers[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto number = ToFloat(arguments[i]);
    if (!number) return std::unexpected(number.error());
    const auto whole = ToInteger(*number);
    if (!whole) return whole;
    numbers[i] = whole->as_int64();
  }
  if (numbers[1] == 0) return base::Fail("division by zero");
  return json::value(numbers[0] % numbers[1]);
}

void SortKeys(json::value& value) {
  if (value.is_array()) {
    for (json::value& one : value.as_array()) SortKeys(one);
  } else if (value.is_object()) {
    std::vector<std::pair<std::string, json::value>> members;
    for (auto& member : value.as_object()) {
      SortKeys(member.value());
      members.emplace_back(member.key(), std::move(member.value()));
    }
    std::ranges::sort(members, {}, &std::pair<std::string, json::value>::first);
    json::object sorted;
    for (auto& [key, member] : members) sorted[key] = std::move(member);
    value = std::move(sorted);
  }
}

base::Result<json::value> Json(Arguments arguments) {
  if (arguments.size() != 1) return base::Fail(fmt::format("want 1 argument, got {}", arguments.size()));
  json::value sorted = arguments[0];
  SortKeys(sorted);
  return json::value(wire::WriteJson(sorted, wire::JsonEscapes::kPlain));
}

base::Result<json::value> Or(Arguments arguments) {
  if (arguments.empty()) return base::Fail("wrong number of args: want at least 1 got 0");
  const auto found = std::ranges::find_if(arguments, IsTrueInTemplate);
  return found == arguments.end() ? arguments.back() : *found;
}

base::Result<json::value> And(Arguments arguments) {
  if (arguments.empty()) return base::Fail("wrong number of args: want at least 1 got 0");
  const auto found = std::ranges::find_if_not(arguments, IsTrueInTemplate);
  return found == arguments.end() ? arguments.back() : *found;
}

base::Result<json::value> Not(Arguments arguments) {
  if (arguments.size() != 1) return base::Fail(fmt::format("want 1 argument, got {}", arguments.size()));
  return json::value(!IsTrueInTemplate(arguments[0]));
}

base::Result<void> CheckComparable(const json::value& a, const json::value& b) {
  const auto is_basic = [](const json::value& value) { return !value.is_array() && !value.is_object(); };
  if (!is_basic(a) || !is_basic(b)) return base::Fail("non-comparable type");
  // Go compares an int with a float64 no more than with a string.
  if (a.kind() != b.kind()) return base::Fail("incompatible types for comparison");
  return {};
}

// The first with any of the others.
base::Result<json::value> Equal(Arguments arguments) {
  if (arguments.size() < 2) return base::Fail("missing argument for comparison");
  for (const json::value& other : arguments.subspan(1)) {
    // Nothing equals only nothing.
    if (arguments[0].is_null() || other.is_null()) {
      if (arguments[0].is_null() && other.is_null()) return json::value(true);
      continue;
    }
    if (auto comparable = CheckComparable(arguments[0], other); !comparable) {
      return std::unexpected(std::move(comparable.error()));
    }
    if (arguments[0] == other) return json::value(true);
  }
  return json::value(false);
}

base::Result<json::value> NotEqual(Arguments arguments) {
  if (arguments.size() != 2) return base::Fail("missing argument for comparison");
  const auto equal = Equal(arguments);
  if (!equal) return equal;
  return json::value(!equal->as_bool());
}

base::Result<bool> IsLess(const json::value& a, const json::value& b) {
  if (auto comparable = CheckComparable(a, b); !comparable) {
    return std::unexpected(std::move(comparable.error()));
  }
  if (a.is_int64()) return a.as_int64() < b.as_int64();
  if (a.is_double()) return a.as_double() < b.as_double();
  if (a.is_string()) return std::string_view(a.as_string()) < std::string_view(b.as_string());
  return base::Fail("invalid type for comparison");
}

// `swapped`: b < a; `negated`: not that.
template <bool swapped, bool negated>
base::Result<json::value> Order(Arguments arguments) {
  if (arguments.size() != 2) return base::Fail(fmt::format("want 2 arguments, got {}", arguments.size()));
  const auto less = IsLess(arguments[swapped ? 1 : 0], arguments[swapped ? 0 : 1]);
  if (!less) return std::unexpected(less.error());
  return json::value(*less != negated);
}

constexpr std::array<std::pair<std::string_view, Function>, 20> kFunctions = {{
    {"AddFloat", Fold<Add, ToReal>},
    {"AddInt", Fold<Add, ToInteger>},
    {"DivideFloat", Two<Divide, ToReal>},
    {"DivideInt", Two<Divide, ToInteger>},
    {"Int", Int},
    {"JSON", Json},
    {"Mod", Mod},
    {"MultiplyFloat", Fold<Multiply, ToReal>},
    {"MultiplyInt", Fold<Multiply, ToInteger>},
    {"SubtractFloat", Two<Subtract, ToReal>},
    {"SubtractInt", Two<Subtract, ToInteger>},
    {"and", And},
    {"eq", Equal},
    {"ge", Order<false, true>},
    {"gt", Order<true, false>},
    {"le", Order<true, true>},
    {"lt", Order<false, false>},
    {"ne", NotEqual},
    {"not", Not},
    {"or", Or},
}};

const Function* FindFunction(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &std::pair<std::string_view, Function>::first);
  return found == kFunctions.end() ? nullptr : &found->second;
}

}  // namespace

bool IsTemplateFunction(std::string_view name) { return FindFunction(name) != nullptr; }

base::Result<json::value> CallTemplateFunction(std::string_view name, Arguments arguments) {
  auto result = (*FindFunction(name))(arguments);
  if (!result) return base::Fail(fmt::format("error calling {}: {}", name, result.error().message));
  return result;
}

bool IsTrueInTemplate(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return false;
    case json::kind::bool_:
      return value.as_bool();
    case json::kind::string:
      return !value.as_string().empty();
    case json::kind::array:
      return !value.as_array().empty();
    case json::kind::object:
      return !value.as_object().empty();
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return value.to_number<double>() != 0;
  }
  std::unreachable();
}

void AppendTemplateValue(std::string& out, const json::value& value) {
  if (value.is_null()) {
    out += "<no value>";
  } else if (value.is_string()) {
    out += value.as_string();
  } else if (value.is_double()) {
    out += base::FormatGoFloat(value.as_double());
  } else if (value.is_array()) {
    out += '[';
    bool is_first = true;
    for (const json::value& one : value.as_array()) {
      if (!std::exchange(is_first, false)) out += ' ';
      AppendTemplateValue(out, one);
    }
    out += ']';
  } else if (value.is_object()) {
    json::value sorted = value;
    SortKeys(sorted);
    out += "map[";
    bool is_first = true;
    for (const auto& [key, member] : sorted.as_object()) {
      if (!std::exchange(is_first, false)) out += ' ';
      out += key;
      out += ':';
      AppendTemplateValue(out, member);
    }
    out += ']';
  } else {
    out += wire::WriteJson(value);
  }
}

}  // namespace berth::bench
