// Kubernetes' semver library.

#include <cstdint>
#include <utility>

#include "cel/registry.h"
#include "cel/semver.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

base::Result<Semver> Parse(Arguments arguments) {
  const bool tolerant = arguments.size() == 2 && arguments[1].boolean();
  return tolerant ? ParseSemverTolerant(arguments[0].text()) : ParseSemver(arguments[0].text());
}

Value ToSemver(Arguments arguments) {
  auto version = Parse(arguments);
  return version ? Value::OfSemver(std::move(*version)) : Value::Error(version.error().message);
}

Value IsSemver(Arguments arguments) { return Value::Bool(Parse(arguments).has_value()); }

// Upstream's numbers wrap here: major() of 9223372036854775808.0.0 is negative.
Value Major(Arguments arguments) {
  return Value::Int(static_cast<std::int64_t>(arguments[0].semver().major));
}
Value Minor(Arguments arguments) {
  return Value::Int(static_cast<std::int64_t>(arguments[0].semver().minor));
}
Value Patch(Arguments arguments) {
  return Value::Int(static_cast<std::int64_t>(arguments[0].semver().patch));
}

Value IsGreaterThan(Arguments arguments) {
  return Value::Bool(CompareSemver(arguments[0].semver(), arguments[1].semver()) > 0);
}
Value IsLessThan(Arguments arguments) {
  return Value::Bool(CompareSemver(arguments[0].semver(), arguments[1].semver()) < 0);
}
Value CompareTo(Arguments arguments) {
  return Value::Int(CompareSemver(arguments[0].semver(), arguments[1].semver()));
}

}  // namespace

void RegisterSemver(Registry& r) {
  r.Global("semver", "string_to_semver", "(string) -> kubernetes.Semver", ToSemver);
  r.Global("semver", "string_bool_to_semver", "(string, bool) -> kubernetes.Semver", ToSemver);
  r.Global("isSemver", "is_semver_string", "(string) -> bool", IsSemver);
  r.Global("isSemver", "is_semver_string_bool", "(string, bool) -> bool", IsSemver);
  r.Method("major", "semver_major", "(kubernetes.Semver) -> int", Major);
  r.Method("minor", "semver_minor", "(kubernetes.Semver) -> int", Minor);
  r.Method("patch", "semver_patch", "(kubernetes.Semver) -> int", Patch);
  r.Method("isGreaterThan", "semver_is_greater_than", "(kubernetes.Semver, kubernetes.Semver) -> bool",
           IsGreaterThan);
  r.Method("isLessThan", "semver_is_less_than", "(kubernetes.Semver, kubernetes.Semver) -> bool", IsLessThan);
  r.Method("compareTo", "semver_compare_to", "(kubernetes.Semver, kubernetes.Semver) -> int", CompareTo);
}

}  // namespace berth::cel
