#include <cmath>
#include <cstddef>
#include <utility>

#include "cel/named_format.h"
#include "cel/net.h"
#include "cel/quantity_value.h"
#include "cel/semver.h"
#include "cel/url.h"
#include "cel/value.h"

namespace berth::cel {
namespace {

bool IsNumber(Kind kind) { return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble; }

int SignOf(bool less, bool greater) { return less ? -1 : (greater ? 1 : 0); }

template <class T>
int Order(const T& left, const T& right) {
  return SignOf(left < right, right < left);
}

// The integer is converted to double for the comparison; only a double outside its range is told apart.
int CompareDoubleInt(double left, std::int64_t right) {
  if (left < -kTwo63) return -1;
  if (left >= kTwo63) return 1;
  return Order(left, static_cast<double>(right));
}

int CompareDoubleUint(double left, std::uint64_t right) {
  if (left < 0) return -1;
  if (left >= kTwo64) return 1;
  return Order(left, static_cast<double>(right));
}

int CompareIntUint(std::int64_t left, std::uint64_t right) {
  if (left < 0) return -1;
  return Order(static_cast<std::uint64_t>(left), right);
}

// Requires two numbers, neither of them NaN.
int CompareNumbers(const Value& left, const Value& right) {
  if (left.kind() == right.kind()) {
    if (left.kind() == Kind::kInt) return Order(left.integer(), right.integer());
    if (left.kind() == Kind::kUint) return Order(left.unsigned_integer(), right.unsigned_integer());
    return Order(left.number(), right.number());
  }
  if (left.kind() == Kind::kDouble) {
    return right.kind() == Kind::kInt ? CompareDoubleInt(left.number(), right.integer())
                                      : CompareDoubleUint(left.number(), right.unsigned_integer());
  }
  if (right.kind() == Kind::kDouble) return -CompareNumbers(right, left);
  if (left.kind() == Kind::kInt) return CompareIntUint(left.integer(), right.unsigned_integer());
  return -CompareNumbers(right, left);
}

bool IsNan(const Value& value) { return value.kind() == Kind::kDouble && std::isnan(value.number()); }

// Lists and maps may share their parts, so that comparing two of them can take longer than building them:
// steps is what is left to do.
constexpr std::size_t kStepsMax = 10'000'000;

Value EqualWithin(const Value& left, const Value& right, std::size_t& steps);

// An element whose comparison is an error does not make lists or maps unequal: upstream looks for false only.
bool ListsEqual(const List& left, const List& right, std::size_t& steps) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size() && steps > 0; ++i) {
    if (EqualWithin(left[i], right[i], steps).is_false()) return false;
  }
  return true;
}

bool MapsEqual(const Map& left, const Map& right, std::size_t& steps) {
  if (left.entries.size() != right.entries.size()) return false;
  for (const auto& [key, value] : left.entries) {
    if (steps == 0) break;
    const Value* other = right.Find(key);
    if (other == nullptr && right.fallback != nullptr) other = right.fallback.get();
    if (other == nullptr || EqualWithin(value, *other, steps).is_false()) return false;
  }
  return true;
}

bool SameKindEqual(const Value& left, const Value& right, std::size_t& steps) {
  switch (left.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return left.boolean() == right.boolean();
    case Kind::kDuration:
      return left.integer() == right.integer();
    case Kind::kTimestamp:
      return left.instant() == right.instant();
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return left.text() == right.text();
    case Kind::kList:
      return ListsEqual(left.list(), right.list(), steps);
    case Kind::kMap:
      return MapsEqual(left.map(), right.map(), steps);
    case Kind::kQuantity:
      return left.quantity().quantity == right.quantity().quantity;
    case Kind::kSemver:
      return CompareSemver(left.semver(), right.semver()) == 0;
    case Kind::kIp:
      return left.ip() == right.ip();
    case Kind::kCidr:
      return left.cidr() == right.cidr();
    case Kind::kUrl:
      return left.url().text == right.url().text;
    case Kind::kFormat:
      return left.format().name == right.format().name;
    default:
      return false;
  }
}

// The types of Kubernetes' libraries answer a comparison with another type by an error, the others by false.
bool RefusesOtherTypes(Kind kind) {
  return kind == Kind::kQuantity || kind == Kind::kSemver || kind == Kind::kIp || kind == Kind::kCidr ||
         kind == Kind::kUrl || kind == Kind::kFormat;
}

Value EqualWithin(const Value& left, const Value& right, std::size_t& steps) {
  if (steps == 0) return Value::Bool(false);
  --steps;
  if (left.kind() == Kind::kNull || right.kind() == Kind::kNull) {
    return Value::Bool(left.kind() == right.kind());
  }
  if (IsNumber(left.kind()) && IsNumber(right.kind())) {
    return Value::Bool(!IsNan(left) && !IsNan(right) && CompareNumbers(left, right) == 0);
  }
  if (left.kind() != right.kind() || (right.kind() == Kind::kQuantity && right.quantity().computed)) {
    return RefusesOtherTypes(left.kind()) ? Value::NoSuchOverload() : Value::Bool(false);
  }
  if (left.kind() == Kind::kOptional) {
    if (!left.has_content() || !right.has_content()) {
      return Value::Bool(left.has_content() == right.has_content());
    }
    return EqualWithin(left.content(), right.content(), steps);
  }
  return Value::Bool(SameKindEqual(left, right, steps));
}

}  // namespace

Value Equal(const Value& left, const Value& right) {
  std::size_t steps = kStepsMax;
  Value equal = EqualWithin(left, right, steps);
  return steps == 0 ? Value::Error("comparison takes too long") : equal;
}

bool IsEqual(const Value& left, const Value& right) { return Equal(left, right).is_true(); }

bool IsOrdered(Kind kind) {
  return IsNumber(kind) || kind == Kind::kBool || kind == Kind::kString || kind == Kind::kBytes ||
         kind == Kind::kTimestamp || kind == Kind::kDuration;
}

Value Compare(const Value& left, const Value& right) {
  if (IsNumber(left.kind())) {
    if (IsNan(left)) return Value::Error("NaN values cannot be ordered");
    if (!IsNumber(right.kind())) return Value::NoSuchOverload();
    if (IsNan(right)) return Value::Error("NaN values cannot be ordered");
    return Value::Int(CompareNumbers(left, right));
  }
  if (left.kind() != right.kind()) return Value::NoSuchOverload();
  switch (left.kind()) {
    case Kind::kBool:
      return Value::Int(Order(left.boolean(), right.boolean()));
    case Kind::kString:
    case Kind::kBytes:
      return Value::Int(Order(left.text(), right.text()));
    case Kind::kTimestamp:
      return Value::Int(Order(left.instant(), right.instant()));
    default:
      return Value::Int(Order(left.integer(), right.integer()));
  }
}

const Value* Map::Find(const Value& key) const {
  // Upstream looks composite keys up by identity, so that no lookup finds one.
  if (key.kind() == Kind::kList || key.kind() == Kind::kMap || key.kind() == Kind::kOptional) return nullptr;
  const auto at = [this](const Value& wanted) {
    const auto it = entries.find(wanted);
    return it == entries.end() ? nullptr : &it->second;
  };
  if (IsNan(key)) return nullptr;
  if (const Value* found = at(key)) return found;
  if (key.kind() == Kind::kDouble) {
    const double number = key.number();
    if (std::trunc(number) != number) return nullptr;
    if (number >= -kTwo63 && number < kTwo63) {
      if (const Value* found = at(Value::Int(static_cast<std::int64_t>(number)))) return found;
    }
    if (number >= 0 && number < kTwo64) return at(Value::Uint(static_cast<std::uint64_t>(number)));
    return nullptr;
  }
  if (key.kind() == Kind::kInt && key.integer() >= 0) {
    return at(Value::Uint(static_cast<std::uint64_t>(key.integer())));
  }
  if (key.kind() == Kind::kUint && std::in_range<std::int64_t>(key.unsigned_integer())) {
    return at(Value::Int(static_cast<std::int64_t>(key.unsigned_integer())));
  }
  return nullptr;
}

}  // namespace berth::cel
