#include "cel/registry.h"

#include <cstddef>

#include "fmt/format.h"

#include "base/check.h"

namespace berth::cel {

const Registry& Registry::Get() {
  static const Registry kRegistry = [] {
    Registry registry;
    RegisterOperators(registry);
    RegisterConversions(registry);
    RegisterTime(registry);
    RegisterOptionals(registry);
    RegisterStrings(registry);
    RegisterLists(registry);
    RegisterRegex(registry);
    RegisterUrl(registry);
    RegisterQuantity(registry);
    RegisterSemver(registry);
    RegisterNet(registry);
    RegisterNamedFormats(registry);
    RegisterAuthorizer(registry);
    return registry;
  }();
  return kRegistry;
}

const Function* Registry::Find(std::string_view name) const {
  if (name.starts_with('.')) name.remove_prefix(1);
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : &it->second;
}

void Registry::Global(std::string_view name, std::string_view id, std::string_view signature,
                      Implementation implementation) {
  Declare(name, id, signature, false, implementation);
}

void Registry::Method(std::string_view name, std::string_view id, std::string_view signature,
                      Implementation implementation) {
  Declare(name, id, signature, true, implementation);
}

void Registry::Any(std::string_view name, Implementation implementation) {
  functions_.at(std::string(name)).any = implementation;
}

void Registry::Declare(std::string_view name, std::string_view id, std::string_view signature, bool method,
                       Implementation implementation) {
  constexpr std::string_view kArrow = ") -> ";
  const std::size_t arrow = signature.rfind(kArrow);
  BERTH_CHECK(signature.starts_with('(') && arrow != std::string_view::npos);
  Overload overload;
  overload.id = id;
  overload.method = method;
  overload.implementation = implementation;
  overload.result = ParseType(signature.substr(arrow + kArrow.size()));
  if (arrow > 1) {
    // Read as the parameters of a type that nothing else uses.
    overload.arguments = ParseType(fmt::format("arguments{}", signature.substr(0, arrow + 1)))->parameters;
  }
  Function& function = functions_[std::string(name)];
  function.name = name;
  function.overloads.push_back(std::move(overload));
}

bool FitsAtRunTime(const Type& type, const Value& value) {
  if (type.kind == TypeKind::kDyn || type.kind == TypeKind::kParameter) return true;
  if (type.name != TypeName(value)) return false;
  if (type.kind == TypeKind::kList) {
    return value.list().empty() || FitsAtRunTime(*type.parameters[0], value.list().front());
  }
  if (type.kind == TypeKind::kMap) {
    const auto& entries = value.map().entries;
    return entries.empty() || (FitsAtRunTime(*type.parameters[0], entries.begin()->first) &&
                               FitsAtRunTime(*type.parameters[1], entries.begin()->second));
  }
  return true;
}

Value RefuseReceiver(const Value& receiver, std::string_view function) {
  switch (receiver.kind()) {
    case Kind::kString:
    case Kind::kTimestamp:
    case Kind::kDuration:
      return Value::NoSuchOverload();
    default:
      return Value::Error(fmt::format("no such overload: {}", function));
  }
}

Value NoSuchOverloadOf(std::string_view function, std::span<const Value> arguments) {
  std::string text = fmt::format("no such overload: {}(", function);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += TypeName(arguments[i]);
  }
  return Value::Error(text + ")");
}

}  // namespace berth::cel
