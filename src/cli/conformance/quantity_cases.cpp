#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <expected>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "cli/conformance/case_json.h"
#include "cli/conformance/cases.h"

#include "api/pod.h"
#include "api/quantity.h"
#include "wire/codec.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using api::Quantity;
using Difference = std::optional<std::string>;
using Parsed = std::expected<Quantity, Quantity::ParseError>;

std::string_view Text(const json::object& object, std::string_view key) { return object.at(key).as_string(); }

std::string_view FormatName(Quantity::Format format) {
  switch (format) {
    case Quantity::Format::kBinarySi:
      return "BinarySI";
    case Quantity::Format::kDecimalExponent:
      return "DecimalExponent";
    case Quantity::Format::kDecimalSi:
      break;
  }
  return "DecimalSI";
}

Quantity::Format FormatNamed(std::string_view name) {
  for (const auto format : {Quantity::Format::kBinarySi, Quantity::Format::kDecimalExponent}) {
    if (name == FormatName(format)) return format;
  }
  return Quantity::Format::kDecimalSi;
}

std::string_view ErrorName(Quantity::ParseError error) {
  switch (error) {
    case Quantity::ParseError::kSuffix:
      return "suffix";
    case Quantity::ParseError::kNumeric:
      return "numeric";
    case Quantity::ParseError::kSyntax:
      break;
  }
  return "syntax";
}

// The float of a case, or of its text; upstream's NaN for a zero with a large exponent is a zero.
double Float(std::string_view text) {
  if (text == "NaN") return 0;
  double value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool Near(double a, double b) { return a == b || std::abs(a - b) <= 1e-14 * std::abs(a); }

// Upstream leaves out a suffix beyond E, so its text for 10^30 is "1". Such a text contradicts the float
// beside it; what is wanted instead is a text that reads back as the number.
Difference CheckText(std::string_view what, const std::string& got, std::string_view want,
                     const Quantity& quantity, double true_value) {
  const Parsed wanted = Quantity::Parse(want);
  if (wanted && std::isfinite(true_value) && !Near(true_value, wanted->AsApproximateFloat())) {
    const Parsed again = Quantity::Parse(got);
    if (again && *again == quantity) return std::nullopt;
  }
  return Compare<std::string_view>(what, got, want);
}

// Integers are compared where they fit, and for negative numbers not at all: upstream rounds some of them
// wrongly.
Difference CheckInteger(std::string_view what, std::int64_t got, bool fits, const json::object& result,
                        std::string_view fits_key) {
  if (auto difference = Compare(fits_key, fits, result.at(fits_key).as_bool())) return difference;
  if (!fits || result.at("sign").to_number<int>() < 0) return std::nullopt;
  return Compare(what, got, result.at(what).to_number<std::int64_t>());
}

Difference CheckResult(const Quantity& quantity, const json::object& result) {
  if (auto difference = Compare("sign", quantity.Sign(), result.at("sign").to_number<int>()))
    return difference;
  // A zero that was null has no format upstream; which one a zero has makes no difference.
  if (const std::string_view format = Text(result, "format"); !format.empty()) {
    if (auto difference = Compare("format", FormatName(quantity.format()), format)) return difference;
  }
  const double float_value = Float(Text(result, "approxFloat"));
  if (!Near(float_value, quantity.AsApproximateFloat())) {
    return fmt::format("approxFloat: got {}, want {}", quantity.AsApproximateFloat(), float_value);
  }
  if (auto difference =
          CheckText("canonical", quantity.Canonical(), Text(result, "canonical"), quantity, float_value)) {
    return difference;
  }
  if (auto difference =
          CheckText("string", quantity.ToString(), Text(result, "string"), quantity, float_value)) {
    return difference;
  }
  if (auto difference = CheckInteger("value", quantity.Value(), quantity.ValueFits(), result, "valueFits")) {
    return difference;
  }
  return CheckInteger("milliValue", quantity.MilliValue(), quantity.MilliValueFits(), result, "milliFits");
}

// A raw JSON value in the place of a quantity. The decoder speaks of a wrong type where upstream finds a
// syntax error.
Parsed DecodeField(std::string_view raw) {
  auto pod = wire::DecodeJson<api::Pod>(fmt::format(R"({{"spec":{{"overhead":{{"cpu":{}}}}}}})", raw));
  if (pod) {
    const Quantity* quantity = pod->spec.overhead.find("cpu");
    return quantity == nullptr ? Quantity() : *quantity;
  }
  for (const auto error : {Quantity::ParseError::kSuffix, Quantity::ParseError::kNumeric}) {
    if (pod.error().message.contains(Quantity::ParseErrorText(error))) return std::unexpected(error);
  }
  return std::unexpected(Quantity::ParseError::kSyntax);
}

Difference CheckParsed(const Parsed& parsed, const json::object& test_case) {
  if (auto difference = Compare("ok", parsed.has_value(), test_case.at("ok").as_bool())) return difference;
  if (parsed) return CheckResult(*parsed, test_case.at("result").as_object());
  if (auto difference = Compare("error", ErrorName(parsed.error()), Text(test_case, "error")))
    return difference;
  return Compare("errorText", Quantity::ParseErrorText(parsed.error()), Text(test_case, "errorText"));
}

Quantity MustParse(std::string_view text) {
  Parsed parsed = Quantity::Parse(text);
  // Caught where the case was entered: a case that cannot be read is a difference.
  if (!parsed)
    throw std::runtime_error(fmt::format("{}: {}", text, Quantity::ParseErrorText(parsed.error())));
  return *std::move(parsed);
}

Difference CheckOperation(const json::object& test_case) {
  const std::string_view op = Text(test_case, "op");
  if (op == "parse") return CheckParsed(Quantity::Parse(Text(test_case, "in")), test_case);
  if (op == "json") return CheckParsed(DecodeField(Text(test_case, "in")), test_case);
  if (op == "format") {
    const auto quantity = Quantity::FromScaled(test_case.at("number").to_number<std::int64_t>(),
                                               test_case.at("scale").to_number<std::int32_t>(),
                                               FormatNamed(Text(test_case, "format")));
    return CheckResult(quantity, test_case.at("result").as_object());
  }
  Quantity a = MustParse(Text(test_case, "a"));
  const Quantity b = MustParse(Text(test_case, "b"));
  if (op == "cmp") {
    if (auto difference = Compare("cmp", a.Compare(b), test_case.at("cmp").to_number<int>()))
      return difference;
    return Compare("equal", a == b, test_case.at("equal").as_bool());
  }
  if (op != "add" && op != "sub") return fmt::format("unknown op {}", op);
  op == "add" ? a.Add(b) : a.Sub(b);
  return CheckResult(a, test_case.at("result").as_object());
}

}  // namespace

std::optional<std::string> CheckQuantityCase(const boost::json::object& test_case) {
  try {
    return CheckOperation(test_case);
  } catch (const std::exception& error) {
    return fmt::format("cannot read the case: {}", error.what());
  }
}

}  // namespace berth::cli
