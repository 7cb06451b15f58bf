#include "cel/value.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cel/double_text.h"
#include "cel/named_format.h"
#include "cel/net.h"
#include "cel/quantity_value.h"
#include "cel/semver.h"
#include "cel/time.h"
#include "cel/url.h"

namespace berth::cel {

template <class T>
Value Value::Boxed(Kind kind, T object) {
  Value value;
  value.kind_ = kind;
  value.object_ = std::make_shared<T>(std::move(object));
  return value;
}

Value Value::Error(std::string text) { return Boxed(Kind::kError, std::move(text)); }
Value Value::String(std::string text) { return Boxed(Kind::kString, std::move(text)); }
Value Value::Bytes(std::string bytes) { return Boxed(Kind::kBytes, std::move(bytes)); }
Value Value::OfList(List items) { return Boxed(Kind::kList, std::move(items)); }
Value Value::OfMap(Map map) { return Boxed(Kind::kMap, std::move(map)); }
Value Value::Type(std::string_view name) { return Boxed(Kind::kType, std::string(name)); }
Value Value::OptionalOf(Value content) { return Boxed(Kind::kOptional, std::move(content)); }
Value Value::Quantity(QuantityValue quantity) { return Boxed(Kind::kQuantity, std::move(quantity)); }
Value Value::OfSemver(Semver version) { return Boxed(Kind::kSemver, std::move(version)); }
Value Value::Ip(IpAddress address) { return Boxed(Kind::kIp, address); }
Value Value::Cidr(IpPrefix prefix) { return Boxed(Kind::kCidr, prefix); }
Value Value::OfUrl(Url url) { return Boxed(Kind::kUrl, std::move(url)); }

Value Value::Bool(bool boolean) {
  Value value;
  value.kind_ = Kind::kBool;
  value.bits_.boolean = boolean;
  return value;
}

Value Value::Int(std::int64_t integer) {
  Value value;
  value.kind_ = Kind::kInt;
  value.bits_.integer = integer;
  return value;
}

Value Value::Uint(std::uint64_t integer) {
  Value value;
  value.kind_ = Kind::kUint;
  value.bits_.unsigned_integer = integer;
  return value;
}

Value Value::Double(double number) {
  Value value;
  value.kind_ = Kind::kDouble;
  value.bits_.number = number;
  return value;
}

Value Value::Duration(std::int64_t nanos) {
  Value value = Int(nanos);
  value.kind_ = Kind::kDuration;
  return value;
}

Value Value::Timestamp(Instant instant) {
  Value value = Int(instant.seconds);
  value.kind_ = Kind::kTimestamp;
  value.nanos_ = instant.nanos;
  value.offset_minutes_ = instant.offset_minutes;
  return value;
}

Value Value::OptionalNone() {
  Value value;
  value.kind_ = Kind::kOptional;
  return value;
}

Value Value::Format(const NamedFormat* format) {
  Value value;
  value.kind_ = Kind::kFormat;
  value.object_ = std::shared_ptr<const void>(std::shared_ptr<const void>(), format);
  return value;
}

List* Value::UniqueList() {
  if (kind_ != Kind::kList || object_.use_count() != 1) return nullptr;
  return static_cast<List*>(const_cast<void*>(object_.get()));
}

Map* Value::UniqueMap() {
  if (kind_ != Kind::kMap || object_.use_count() != 1) return nullptr;
  return static_cast<Map*>(const_cast<void*>(object_.get()));
}

namespace {

// Composite keys nest, and may share their parts: looking deeper would not end. No expression needs it.
constexpr int kKeyDepthMax = 3;

int KeyOrder(const Value& left, const Value& right, int depth);

template <class T>
int PlainOrder(const T& left, const T& right) {
  return left < right ? -1 : (right < left ? 1 : 0);
}

int KeyOrder(const List& left, const List& right, int depth) {
  if (depth == kKeyDepthMax || left.size() != right.size()) return PlainOrder(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (const int order = KeyOrder(left[i], right[i], depth + 1)) return order;
  }
  return 0;
}

int KeyOrder(const Map& left, const Map& right, int depth) {
  if (depth == kKeyDepthMax || left.entries.size() != right.entries.size()) {
    return PlainOrder(left.entries.size(), right.entries.size());
  }
  auto other = right.entries.begin();
  for (const auto& [key, value] : left.entries) {
    if (const int order = KeyOrder(key, other->first, depth + 1)) return order;
    if (const int order = KeyOrder(value, other->second, depth + 1)) return order;
    ++other;
  }
  return 0;
}

int DoubleOrder(double left, double right) {
  // NaN sorts first, or the order would not be one.
  if (left != left || right != right) return PlainOrder(left == left, right == right);
  return PlainOrder(left, right);
}

int KeyOrder(const Value& left, const Value& right, int depth) {
  if (left.kind() != right.kind()) return PlainOrder(left.kind(), right.kind());
  switch (left.kind()) {
    case Kind::kBool:
      return PlainOrder(left.boolean(), right.boolean());
    case Kind::kInt:
    case Kind::kDuration:
      return PlainOrder(left.integer(), right.integer());
    case Kind::kUint:
      return PlainOrder(left.unsigned_integer(), right.unsigned_integer());
    case Kind::kDouble:
      return DoubleOrder(left.number(), right.number());
    case Kind::kTimestamp:
      return PlainOrder(left.instant(), right.instant());
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
    case Kind::kError:
      return left.text().compare(right.text());
    case Kind::kList:
      return KeyOrder(left.list(), right.list(), depth);
    case Kind::kMap:
      return KeyOrder(left.map(), right.map(), depth);
    case Kind::kOptional:
      if (!left.has_content() || !right.has_content())
        return PlainOrder(left.has_content(), right.has_content());
      return depth == kKeyDepthMax ? 0 : KeyOrder(left.content(), right.content(), depth + 1);
    default:
      return PlainOrder(KeyText(left), KeyText(right));
  }
}

}  // namespace

bool KeyLess::operator()(const Value& left, const Value& right) const { return KeyOrder(left, right, 0) < 0; }

std::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kError:
      return "error";
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kIp:
      return "net.IP";
    case Kind::kCidr:
      return "net.CIDR";
    case Kind::kUrl:
      return "kubernetes.URL";
    case Kind::kFormat:
      return "kubernetes.NamedFormat";
  }
  return "";
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kError:
      return "*types.Err";
    case Kind::kNull:
      return "types.Null";
    case Kind::kBool:
      return "types.Bool";
    case Kind::kInt:
      return "types.Int";
    case Kind::kUint:
      return "types.Uint";
    case Kind::kDouble:
      return "types.Double";
    case Kind::kString:
      return "types.String";
    case Kind::kBytes:
      return "types.Bytes";
    case Kind::kDuration:
      return "types.Duration";
    case Kind::kTimestamp:
      return "types.Timestamp";
    case Kind::kList:
      return "*types.baseList";
    case Kind::kMap:
      return value.map().fallback == nullptr ? "*types.baseMap" : "cel.mapper";
    case Kind::kType:
      return "*types.Type";
    case Kind::kOptional:
      return "*types.Optional";
    case Kind::kQuantity:
      return value.quantity().computed ? "*cel.Quantity" : "cel.Quantity";
    case Kind::kSemver:
      return "cel.Semver";
    case Kind::kIp:
      return "cel.IP";
    case Kind::kCidr:
      return "cel.CIDR";
    case Kind::kUrl:
      return "cel.URL";
    case Kind::kFormat:
      return "cel.Format";
  }
  return "";
}

std::int64_t CodePointCount(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
}

bool IsKeyKind(Kind kind) {
  return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble ||
         kind == Kind::kString;
}

std::string KeyText(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.boolean() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer());
    case Kind::kUint:
      return std::to_string(value.unsigned_integer());
    case Kind::kDouble:
      return DoubleText(value.number());
    case Kind::kDuration:
      return DurationText(value.integer());
    case Kind::kTimestamp:
      return TimestampText(value.instant());
    case Kind::kError:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return value.text();
    case Kind::kSemver:
      return SemverText(value.semver());
    case Kind::kQuantity:
      return value.quantity().quantity.ToString();
    case Kind::kIp:
      return IpText(value.ip());
    case Kind::kCidr:
      return CidrText(value.cidr());
    case Kind::kUrl:
      return value.url().text;
    case Kind::kFormat:
      return std::string(value.format().name);
    default:
      return std::string(TypeName(value));
  }
}

}  // namespace berth::cel
