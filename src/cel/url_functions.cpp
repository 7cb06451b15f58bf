// Kubernetes' url library.

#include <utility>

#include "cel/registry.h"
#include "cel/url.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value ToUrl(Arguments arguments) {
  auto url = ParseUrl(arguments[0].text());
  if (!url) return Value::Error("URL parse error during conversion from string: " + url.error().message);
  return Value::OfUrl(std::move(*url));
}

Value IsUrl(Arguments arguments) { return Value::Bool(!RequestUriProblem(arguments[0].text()).has_value()); }
Value Scheme(Arguments arguments) { return Value::String(arguments[0].url().scheme); }
Value Host(Arguments arguments) { return Value::String(arguments[0].url().host); }
Value Hostname(Arguments arguments) { return Value::String(arguments[0].url().Hostname()); }
Value Port(Arguments arguments) { return Value::String(arguments[0].url().Port()); }
Value EscapedPath(Arguments arguments) { return Value::String(arguments[0].url().escaped_path); }

Value Query(Arguments arguments) {
  Map query;
  for (const auto& [key, values] : arguments[0].url().Query()) {
    List list;
    for (const std::string& value : values) list.push_back(Value::String(value));
    query.entries.emplace(Value::String(key), Value::OfList(std::move(list)));
  }
  return Value::OfMap(std::move(query));
}

}  // namespace

void RegisterUrl(Registry& r) {
  r.Global("url", "string_to_url", "(string) -> kubernetes.URL", ToUrl);
  r.Global("isURL", "is_url_string", "(string) -> bool", IsUrl);
  r.Method("getScheme", "url_get_scheme", "(kubernetes.URL) -> string", Scheme);
  r.Method("getHost", "url_get_host", "(kubernetes.URL) -> string", Host);
  r.Method("getHostname", "url_get_hostname", "(kubernetes.URL) -> string", Hostname);
  r.Method("getPort", "url_get_port", "(kubernetes.URL) -> string", Port);
  r.Method("getEscapedPath", "url_get_escaped_path", "(kubernetes.URL) -> string", EscapedPath);
  r.Method("getQuery", "url_get_query", "(kubernetes.URL) -> map(string, list(string))", Query);
}

}  // namespace berth::cel
