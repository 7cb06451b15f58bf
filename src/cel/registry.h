#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/type.h"
#include "cel/value.h"

namespace berth::cel {

// Called with arguments that are no errors. It may take them apart: nobody looks at them afterwards.
using Implementation = Value (*)(std::span<Value> arguments);

struct Overload {
  std::string id;  // upstream's: costs are defined by it
  bool method = false;
  std::vector<TypeRef> arguments;  // the receiver of a method first
  TypeRef result;
  Implementation implementation = nullptr;
};

struct Function {
  std::string name;
  std::vector<Overload> overloads;
  // For functions that look at the run-time types of their arguments themselves. Null: an overload is called,
  // and only with arguments that fit it.
  Implementation any = nullptr;
};

// All functions of the language, by name. Built once; never changes.
class Registry {
 public:
  static const Registry& Get();

  const Function* Find(std::string_view name) const;

  // signature: "(list(A), A) -> int". The order of declaration is the order in which overloads are tried.
  void Global(std::string_view name, std::string_view id, std::string_view signature,
              Implementation implementation = nullptr);
  void Method(std::string_view name, std::string_view id, std::string_view signature,
              Implementation implementation = nullptr);
  void Any(std::string_view name, Implementation implementation);

 private:
  void Declare(std::string_view name, std::string_view id, std::string_view signature, bool method,
               Implementation implementation);

  std::map<std::string, Function, std::less<>> functions_;
};

// Whether the value may be passed for the type. Of a list or map the first entry is looked at.
bool FitsAtRunTime(const Type& type, const Value& value);

// "no such overload: f(int, list)".
Value NoSuchOverloadOf(std::string_view function, std::span<const Value> arguments);

// The answer of a receiver that does not have the function. Strings, timestamps and durations take any method
// and refuse it in few words; for the others the message names the function.
Value RefuseReceiver(const Value& receiver, std::string_view function);

// Each library declares its functions.
void RegisterOperators(Registry& registry);
void RegisterConversions(Registry& registry);
void RegisterTime(Registry& registry);
void RegisterStrings(Registry& registry);
void RegisterRegex(Registry& registry);
void RegisterLists(Registry& registry);
void RegisterOptionals(Registry& registry);
void RegisterQuantity(Registry& registry);
void RegisterSemver(Registry& registry);
void RegisterNet(Registry& registry);
void RegisterUrl(Registry& registry);
void RegisterNamedFormats(Registry& registry);
void RegisterAuthorizer(Registry& registry);

}  // namespace berth::cel
