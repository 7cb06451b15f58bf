#include "cel/type.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace berth::cel {
namespace {

struct BasicName {
  TypeKind kind;
  std::string_view name;
};

constexpr std::array kBasicNames = {
    BasicName{TypeKind::kError, "!error!"},
    BasicName{TypeKind::kDyn, "dyn"},
    BasicName{TypeKind::kNull, "null_type"},
    BasicName{TypeKind::kBool, "bool"},
    BasicName{TypeKind::kInt, "int"},
    BasicName{TypeKind::kUint, "uint"},
    BasicName{TypeKind::kDouble, "double"},
    BasicName{TypeKind::kString, "string"},
    BasicName{TypeKind::kBytes, "bytes"},
    BasicName{TypeKind::kDuration, "google.protobuf.Duration"},
    BasicName{TypeKind::kTimestamp, "google.protobuf.Timestamp"},
    BasicName{TypeKind::kType, "type"},
};

TypeRef Make(TypeKind kind, std::string name, std::vector<TypeRef> parameters = {}) {
  return std::make_shared<Type>(Type{kind, std::move(name), std::move(parameters)});
}

std::vector<TypeRef> ParseParameters(std::string_view text) {
  std::vector<TypeRef> parameters;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parameters.push_back(ParseType(text.substr(start, i - start)));
      start = i + 1;
      while (start < text.size() && text[start] == ' ') ++start;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parameters;
}

template <class Name>
std::string Format(const Type& type, Name name) {
  std::string text(name(type));
  if (type.parameters.empty()) return text;
  text += '(';
  for (std::size_t i = 0; i < type.parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += Format(*type.parameters[i], name);
  }
  return text + ')';
}

}  // namespace

const TypeRef& BasicType(TypeKind kind) {
  static const auto kTypes = [] {
    std::vector<TypeRef> types(static_cast<std::size_t>(TypeKind::kParameter) + 1);
    for (const BasicName& basic : kBasicNames) {
      types[static_cast<std::size_t>(basic.kind)] = Make(basic.kind, std::string(basic.name));
    }
    return types;
  }();
  const TypeRef& type = kTypes[static_cast<std::size_t>(kind)];
  BERTH_CHECK(type != nullptr);
  return type;
}

TypeRef ListType(TypeRef element) { return Make(TypeKind::kList, "list", {std::move(element)}); }
TypeRef MapType(TypeRef key, TypeRef value) {
  return Make(TypeKind::kMap, "map", {std::move(key), std::move(value)});
}
TypeRef TypeOfType(TypeRef of) { return Make(TypeKind::kType, "type", {std::move(of)}); }
TypeRef OptionalType(TypeRef content) {
  return Make(TypeKind::kOpaque, std::string(kOptionalName), {std::move(content)});
}
TypeRef StructType(std::string name) { return Make(TypeKind::kStruct, std::move(name)); }
TypeRef ParameterType(std::string name) { return Make(TypeKind::kParameter, std::move(name)); }

bool SameType(const Type& left, const Type& right) {
  if (&left == &right) return true;
  if (left.kind != right.kind || left.name != right.name ||
      left.parameters.size() != right.parameters.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.parameters.size(); ++i) {
    if (!SameType(*left.parameters[i], *right.parameters[i])) return false;
  }
  return true;
}

bool IsOptional(const Type& type) { return type.kind == TypeKind::kOpaque && type.name == kOptionalName; }

TypeRef ParseType(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  if (open != std::string_view::npos) {
    std::vector<TypeRef> parameters = ParseParameters(text.substr(open + 1, text.size() - open - 2));
    if (name == "list") return Make(TypeKind::kList, "list", std::move(parameters));
    if (name == "map") return Make(TypeKind::kMap, "map", std::move(parameters));
    if (name == "type") return Make(TypeKind::kType, "type", std::move(parameters));
    return Make(TypeKind::kOpaque, std::string(name == "optional" ? kOptionalName : name),
                std::move(parameters));
  }
  if (name.size() == 1 && name.front() >= 'A' && name.front() <= 'Z') return ParameterType(std::string(name));
  if (name == "duration") return BasicType(TypeKind::kDuration);
  if (name == "timestamp") return BasicType(TypeKind::kTimestamp);
  for (const BasicName& basic : kBasicNames) {
    if (basic.name == name) return BasicType(basic.kind);
  }
  // Addresses are registered as opaque types, the other types of Kubernetes as structs.
  if (name.starts_with("net.")) return Make(TypeKind::kOpaque, std::string(name));
  return StructType(std::string(name));
}

std::string TypeText(const Type& type) {
  return Format(type, [](const Type& part) -> std::string_view {
    if (part.kind == TypeKind::kNull) return "null";
    if (part.kind == TypeKind::kDuration) return "duration";
    if (part.kind == TypeKind::kTimestamp) return "timestamp";
    return part.name;
  });
}

std::string ResultTypeText(const Type& type) {
  return Format(type, [](const Type& part) -> std::string_view { return part.name; });
}

}  // namespace berth::cel
