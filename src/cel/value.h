#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

struct QuantityValue;
struct Semver;
struct IpAddress;
struct IpPrefix;
struct Url;
struct NamedFormat;
struct Map;
class Value;

using List = std::vector<Value>;

enum class Kind : std::uint8_t {
  kError,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kType,
  kOptional,
  kQuantity,
  kSemver,
  kIp,
  kCidr,
  kUrl,
  kFormat,
};

// Seconds since 1970 and nanoseconds in [0, 1e9): an int64 of nanoseconds does not reach the year 9999. The
// offset is the one a timestamp was written with; only its text shows it.
struct Instant {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
  std::int16_t offset_minutes = 0;

  bool operator==(const Instant& other) const { return seconds == other.seconds && nanos == other.nanos; }
  bool operator<(const Instant& other) const {
    return seconds != other.seconds ? seconds < other.seconds : nanos < other.nanos;
  }
};

// A CEL value: immutable, cheap to copy (big ones are shared). Errors are values: they travel through strict
// calls and are absorbed by && and ||.
class Value {
 public:
  Value() = default;  // null
  static Value Error(std::string text);
  static Value NoSuchOverload() { return Error("no such overload"); }
  static Value Bool(bool value);
  static Value Int(std::int64_t value);
  static Value Uint(std::uint64_t value);
  static Value Double(double value);
  static Value String(std::string text);
  static Value Bytes(std::string bytes);
  static Value Duration(std::int64_t nanos);
  static Value Timestamp(Instant instant);
  static Value OfList(List items);
  static Value OfMap(Map map);
  static Value Type(std::string_view name);
  static Value OptionalOf(Value content);
  static Value OptionalNone();
  static Value Quantity(QuantityValue quantity);
  static Value OfSemver(Semver version);
  static Value Ip(IpAddress address);
  static Value Cidr(IpPrefix prefix);
  static Value OfUrl(Url url);
  static Value Format(const NamedFormat* format);

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_true() const { return kind_ == Kind::kBool && bits_.boolean; }
  bool is_false() const { return kind_ == Kind::kBool && !bits_.boolean; }

  // Each accessor requires the kind that it names.
  bool boolean() const { return bits_.boolean; }
  std::int64_t integer() const { return bits_.integer; }  // int, and the nanoseconds of a duration
  std::uint64_t unsigned_integer() const { return bits_.unsigned_integer; }
  double number() const { return bits_.number; }
  Instant instant() const { return {bits_.integer, nanos_, offset_minutes_}; }
  const std::string& text() const { return Object<std::string>(); }  // error, string, bytes, type
  const List& list() const { return Object<List>(); }
  const Map& map() const { return Object<Map>(); }
  bool has_content() const { return object_ != nullptr; }  // optional
  const Value& content() const { return Object<Value>(); }
  const QuantityValue& quantity() const { return Object<QuantityValue>(); }
  const Semver& semver() const { return Object<Semver>(); }
  const IpAddress& ip() const { return Object<IpAddress>(); }
  const IpPrefix& cidr() const { return Object<IpPrefix>(); }
  const Url& url() const { return Object<Url>(); }
  const NamedFormat& format() const { return Object<NamedFormat>(); }

  // The list or map for changing it in place, if nobody else holds it; else null. Loops that build a list
  // grow it this way, so that they stay linear.
  List* UniqueList();
  Map* UniqueMap();

 private:
  template <class T>
  const T& Object() const {
    return *static_cast<const T*>(object_.get());
  }
  template <class T>
  static Value Boxed(Kind kind, T object);

  Kind kind_ = Kind::kNull;
  std::int16_t offset_minutes_ = 0;
  std::int32_t nanos_ = 0;
  union {
    bool boolean;
    std::int64_t integer = 0;
    std::uint64_t unsigned_integer;
    double number;
  } bits_;
  std::shared_ptr<const void> object_;
};

// Total order of map keys: by kind, then by value. Iteration in this order is what makes loops over maps
// deterministic (upstream's order is random).
struct KeyLess {
  bool operator()(const Value& left, const Value& right) const;
};

struct Map {
  std::map<Value, Value, KeyLess> entries;
  // What a lookup of an absent key finds instead: the empty map in device.attributes and device.capacity.
  std::shared_ptr<const Value> fallback;

  // By key, numbers across their types; null if absent (the fallback does not count).
  const Value* Find(const Value& key) const;
};

// "int", "list", "google.protobuf.Duration", "kubernetes.Semver": what type(x) gives.
std::string_view TypeName(const Value& value);
// "types.Int", "cel.Semver": upstream's implementation types, which some of its messages show.
std::string_view GoTypeName(const Value& value);

std::int64_t CodePointCount(std::string_view text);

// What may stand between the brackets of an index: a bool, number or string.
bool IsKeyKind(Kind kind);

// The first doubles that an int64 and a uint64 do not hold.
inline constexpr double kTwo63 = 9223372036854775808.0;
inline constexpr double kTwo64 = 18446744073709551616.0;

// left == right as a value: true, false, or an error where the left type refuses the comparison.
Value Equal(const Value& left, const Value& right);
bool IsEqual(const Value& left, const Value& right);

// Whether < and the like exist for the kind.
bool IsOrdered(Kind kind);
// -1, 0, 1 or an error. Requires IsOrdered(left.kind()).
Value Compare(const Value& left, const Value& right);

// A value as it stands in "no such key: <value>".
std::string KeyText(const Value& value);

}  // namespace berth::cel
