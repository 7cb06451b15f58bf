#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

enum class TypeKind : std::uint8_t {
  kError,  // of an expression that did not check; fits everywhere, so that one mistake gives one message
  kDyn,
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
  kType,    // the type of a type; a parameter says of which
  kStruct,  // by name
  kOpaque,  // by name, with parameters: optional_type(int), net.IP
  kParameter,
};

struct Type;
using TypeRef = std::shared_ptr<const Type>;

// A static type. Compare with SameType: equal types need not be one object.
struct Type {
  TypeKind kind = TypeKind::kDyn;
  std::string name;  // runtime name; of a parameter its own
  std::vector<TypeRef> parameters;
};

// kind: one without parameters and without a name of its own (bool, int, dyn, ...).
const TypeRef& BasicType(TypeKind kind);
TypeRef ListType(TypeRef element);
TypeRef MapType(TypeRef key, TypeRef value);
TypeRef TypeOfType(TypeRef of);
TypeRef OptionalType(TypeRef content);
TypeRef StructType(std::string name);
TypeRef ParameterType(std::string name);

inline constexpr std::string_view kOptionalName = "optional_type";
inline constexpr std::string_view kDeviceName = "kubernetes.DRADevice";

bool SameType(const Type& left, const Type& right);
bool IsOptional(const Type& type);

// "list(int)"; a capital letter is a parameter. Requires a text of the declaration tables.
TypeRef ParseType(std::string_view text);

// As error messages of the checker name it: "timestamp", "null", "list(int)".
std::string TypeText(const Type& type);
// As the type of a result is named: "google.protobuf.Timestamp", "null_type".
std::string ResultTypeText(const Type& type);

}  // namespace berth::cel
