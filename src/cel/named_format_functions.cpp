// Kubernetes' format library, and the declarations of its authorizer library: no variable reaches those
// functions, but an expression that calls them on a dyn compiles and fails when it runs.

#include <cstddef>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/named_format.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value Validate(Arguments arguments) {
  List problems;
  for (std::string& problem : arguments[0].format().problems(arguments[1].text())) {
    problems.push_back(Value::String(std::move(problem)));
  }
  return problems.empty() ? Value::OptionalNone() : Value::OptionalOf(Value::OfList(std::move(problems)));
}

Value Named(Arguments arguments) {
  const NamedFormat* format = FindNamedFormat(arguments[0].text());
  return format == nullptr ? Value::OptionalNone() : Value::OptionalOf(Value::Format(format));
}

// format.dns1123Label() and its kin take no argument that could tell them apart: one function each.
template <std::size_t index>
Value Constant(Arguments) {
  return Value::Format(&NamedFormats()[index]);
}

template <std::size_t... index>
void RegisterConstants(Registry& r, std::index_sequence<index...>) {
  (r.Global(fmt::format("format.{}", NamedFormats()[index].function),
            fmt::format("format.{}", NamedFormats()[index].function), "() -> kubernetes.NamedFormat",
            Constant<index>),
   ...);
}

}  // namespace

void RegisterNamedFormats(Registry& r) {
  constexpr std::size_t kFormatCount = 13;
  RegisterConstants(r, std::make_index_sequence<kFormatCount>());
  r.Global("format.named", "format-named", "(string) -> optional(kubernetes.NamedFormat)", Named);
  r.Method("validate", "format-validate", "(kubernetes.NamedFormat, string) -> optional(list(string))",
           Validate);
}

void RegisterAuthorizer(Registry& r) {
  constexpr std::string_view kAuthorizer = "kubernetes.authorization.Authorizer";
  constexpr std::string_view kPath = "kubernetes.authorization.PathCheck";
  constexpr std::string_view kGroup = "kubernetes.authorization.GroupCheck";
  constexpr std::string_view kResource = "kubernetes.authorization.ResourceCheck";
  constexpr std::string_view kDecision = "kubernetes.authorization.Decision";
  const auto method = [&r](std::string_view name, std::string_view id, std::string_view receiver,
                           std::string_view arguments, std::string_view result) {
    r.Method(name, id, fmt::format("({}{}) -> {}", receiver, arguments, result));
  };
  method("path", "authorizer_path", kAuthorizer, ", string", kPath);
  method("group", "authorizer_group", kAuthorizer, ", string", kGroup);
  method("serviceAccount", "authorizer_serviceaccount", kAuthorizer, ", string, string", kAuthorizer);
  method("resource", "groupcheck_resource", kGroup, ", string", kResource);
  method("subresource", "resourcecheck_subresource", kResource, ", string", kResource);
  method("namespace", "resourcecheck_namespace", kResource, ", string", kResource);
  method("name", "resourcecheck_name", kResource, ", string", kResource);
  method("fieldSelector", "authorizer_fieldselector", kResource, ", string", kResource);
  method("labelSelector", "authorizer_labelselector", kResource, ", string", kResource);
  method("check", "pathcheck_check", kPath, ", string", kDecision);
  method("check", "resourcecheck_check", kResource, ", string", kDecision);
  method("allowed", "decision_allowed", kDecision, "", "bool");
  method("reason", "decision_reason", kDecision, "", "string");
  method("error", "decision_error", kDecision, "", "string");
  method("errored", "decision_errored", kDecision, "", "bool");
}

}  // namespace berth::cel
