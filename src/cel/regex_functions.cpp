// matches, and Kubernetes' regex library. Constant patterns are compiled once, with the program; these are
// for patterns that are computed.

#include <string_view>
#include <utility>

#include "cel/regex.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value Matches(Arguments arguments) {
  if (arguments[0].kind() != Kind::kString) return RefuseReceiver(arguments[0], "matches");
  if (arguments[1].kind() != Kind::kString) return Value::NoSuchOverload();
  const auto regex = Regex::Compile(arguments[1].text());
  if (!regex) return Value::Error(regex.error().message);
  return Value::Bool((*regex)->Matches(arguments[0].text()));
}

Value Find(Arguments arguments) {
  const auto regex = Regex::Compile(arguments[1].text());
  if (!regex) return Value::Error("Illegal regex: " + regex.error().message);
  return Value::String((*regex)->Find(arguments[0].text()));
}

Value FindAll(Arguments arguments) {
  const auto regex = Regex::Compile(arguments[1].text());
  if (!regex) return Value::Error("Illegal regex: " + regex.error().message);
  const std::int64_t count = arguments.size() == 3 ? arguments[2].integer() : -1;
  return Value::OfList((*regex)->FindAll(arguments[0].text(), count));
}

}  // namespace

void RegisterRegex(Registry& r) {
  r.Global("matches", "matches", "(string, string) -> bool");
  r.Method("matches", "matches_string", "(string, string) -> bool");
  r.Any("matches", Matches);
  r.Method("find", "string_find_string", "(string, string) -> string", Find);
  r.Method("findAll", "string_find_all_string", "(string, string) -> list(string)", FindAll);
  r.Method("findAll", "string_find_all_string_int", "(string, string, int) -> list(string)", FindAll);
}

}  // namespace berth::cel
