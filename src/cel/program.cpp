#include "cel/program.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "base/check.h"
#include "cel/semver.h"

namespace berth::cel {
namespace {

using Converted = std::expected<api::DeviceAttribute, std::string>;

// Why a value is no bool.
std::string NotABool(const Value& value) {
  switch (value.kind()) {
    case Kind::kInt:
    case Kind::kUint:
      return fmt::format("unsupported type conversion from '{}' to bool", TypeName(value));
    case Kind::kString:
      return "unsupported native conversion from string to 'bool'";
    case Kind::kDouble:
      return "type conversion error from Double to 'bool'";
    case Kind::kBytes:
      return "type conversion error from Bytes to 'bool'";
    case Kind::kList:
    case Kind::kMap:
      return fmt::format("type conversion error from {} to 'bool'", TypeName(value));
    case Kind::kNull:
      return "type conversion error from 'null_type' to 'bool'";
    case Kind::kType:
      return "type conversion not supported for 'type'";
    case Kind::kFormat:
      return "type conversion error from 'Format' to 'bool'";
    default: {
      // The last part of the name: Duration, Semver, IP.
      const std::string_view name = TypeName(value);
      return fmt::format("type conversion error from '{}' to 'bool'", name.substr(name.rfind('.') + 1));
    }
  }
}

std::expected<bool, std::string> ToBool(const Value& value) {
  const Value* content = &value;
  while (content->kind() == Kind::kOptional && content->has_content()) content = &content->content();
  if (content->kind() == Kind::kBool) return content->boolean();
  const std::string why =
      content->kind() == Kind::kOptional ? "optional.none() dereference" : NotABool(*content);
  return std::unexpected(
      fmt::format("CEL result of type {} could not be converted to bool: {}", TypeName(value), why));
}

// The Go type of what a value holds.
std::string_view NativeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "structpb.NullValue";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
      return "uint64";
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
    case Kind::kType:
      return "string";
    case Kind::kBytes:
      return "[]uint8";
    case Kind::kDuration:
      return "time.Duration";
    case Kind::kTimestamp:
      return "time.Time";
    case Kind::kList:
      return "[]ref.Val";
    case Kind::kMap:
      return "map[ref.Val]ref.Val";
    case Kind::kOptional:
      return value.has_content() ? NativeName(value.content()) : "<nil>";
    case Kind::kQuantity:
      return "*resource.Quantity";
    case Kind::kSemver:
      return "semver.Version";
    case Kind::kIp:
      return "netip.Addr";
    case Kind::kCidr:
      return "netip.Prefix";
    case Kind::kUrl:
      return "*url.URL";
    case Kind::kFormat:
      return "cel.Format";
    case Kind::kError:
      return "*types.Err";
  }
  return "";
}

Converted ListToAttribute(const List& list) {
  api::DeviceAttribute attribute;
  const Kind kind = list.front().kind();
  const char* name = kind == Kind::kBool     ? "bool"
                     : kind == Kind::kInt    ? "int"
                     : kind == Kind::kString ? "string"
                     : kind == Kind::kSemver ? "semver"
                                             : nullptr;
  if (name == nullptr)
    return std::unexpected(fmt::format("unsupported list element type: {}", NativeName(list[0])));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value& item = list[i];
    if (item.kind() != kind) {
      return std::unexpected(
          fmt::format("expected list element at index {} to be {}, got {}", i, name, NativeName(item)));
    }
    if (kind == Kind::kBool) attribute.bools.push_back(item.boolean());
    if (kind == Kind::kInt) attribute.ints.push_back(item.integer());
    if (kind == Kind::kString) attribute.strings.push_back(item.text());
    if (kind == Kind::kSemver) attribute.versions.push_back(SemverText(item.semver()));
  }
  return attribute;
}

Converted ToAttribute(const Value& value) {
  api::DeviceAttribute attribute;
  switch (value.kind()) {
    case Kind::kBool:
      attribute.bool_value = value.boolean();
      return attribute;
    case Kind::kInt:
      attribute.int_value = value.integer();
      return attribute;
    case Kind::kString:
    case Kind::kType:
      attribute.string_value = value.text();
      return attribute;
    case Kind::kSemver:
      attribute.version = SemverText(value.semver());
      return attribute;
    case Kind::kList:
      // An empty list is an empty list of strings, which an attribute without values is too.
      return value.list().empty() ? Converted(attribute) : ListToAttribute(value.list());
    case Kind::kOptional:
      if (value.has_content() && value.content().kind() != Kind::kList) return ToAttribute(value.content());
      [[fallthrough]];
    default:
      return std::unexpected(fmt::format("unsupported CEL return type: {}", NativeName(value)));
  }
}

// Runs the plan and hands a value that is no error on to convert.
template <class T, class Convert>
Evaluation<T> Run(const Plan& plan, const DeviceView& device, const Budget& budget, Convert convert) {
  if (device.error()) return {.value = std::unexpected(*device.error())};
  Evaluator evaluator(plan, device.value(), budget);
  const Value value = evaluator.Run();
  if (value.is_error()) return {.value = std::unexpected(value.text()), .cost = evaluator.cost()};
  return {.value = convert(value), .cost = evaluator.cost()};
}

}  // namespace

Program::Program(std::string expression, ExpressionKind kind, std::string result_type, Plan plan)
    : expression_(std::move(expression)),
      kind_(kind),
      result_type_(std::move(result_type)),
      plan_(std::move(plan)) {}

Evaluation<bool> Program::Evaluate(const DeviceView& device, const Budget& budget) const {
  BERTH_CHECK(kind_ == ExpressionKind::kSelector);
  return Run<bool>(plan_, device, budget, ToBool);
}

Evaluation<api::DeviceAttribute> Program::EvaluateAttribute(const DeviceView& device,
                                                            const Budget& budget) const {
  BERTH_CHECK(kind_ == ExpressionKind::kDerivedAttribute);
  return Run<api::DeviceAttribute>(plan_, device, budget, ToAttribute);
}

std::string WithMissingKeyHint(std::string error) {
  if (!error.contains("no such key:")) return error;
  return error +
         ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
         "for "
         "optional fields";
}

}  // namespace berth::cel
