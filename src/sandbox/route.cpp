#include "sandbox/route.h"

#include <fmt/format.h>
#include <span>

#include "sandbox/text_parts.h"

namespace berth::sandbox {
namespace {

using Segments = std::span<const std::string>;

StatusError MethodNotAllowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .has_empty_details = true};
}

// The resource and what of it, after the group version.
ApiResult<Target> ParseTarget(std::string_view group, std::string_view version, Segments rest) {
  const ResourceTable& table = ResourceTable::Get();
  Target target;
  const Resource* namespaces = table.Find("", "v1", "namespaces");
  const bool is_core = group.empty() && version == "v1";
  const bool about_namespace =
      is_core && !rest.empty() && rest[0] == "namespaces" &&
      (rest.size() <= 2 || (rest.size() == 3 && namespaces->HasSubresource(rest[2])));
  if (rest.size() >= 3 && rest[0] == "namespaces" && !about_namespace) {
    target.namespace_name = rest[1];
    rest = rest.subspan(2);
  }
  if (rest.empty() || rest.size() > 3) return Refuse(PathNotFound());
  target.resource = table.Find(group, version, rest[0]);
  if (target.resource == nullptr) return Refuse(PathNotFound());
  if (!target.namespace_name.empty() && !target.resource->namespaced) return Refuse(PathNotFound());
  if (rest.size() > 1) target.name = rest[1];
  if (rest.size() > 2) target.subresource = rest[2];
  if (!target.subresource.empty() && !target.resource->HasSubresource(target.subresource)) {
    return Refuse(PathNotFound());
  }
  const bool needs_namespace = target.resource->namespaced && !target.name.empty();
  if (needs_namespace && target.namespace_name.empty()) return Refuse(PathNotFound());
  return target;
}

ApiResult<Verb> VerbOf(const std::string& method, const Route& route) {
  const bool named = !route.target.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (route.flag("watch") && route.target.subresource.empty()) return Verb::kWatch;
    return named ? Verb::kGet : Verb::kList;
  }
  if (method == "POST") return Verb::kCreate;
  if (method == "PUT" && named) return Verb::kUpdate;
  if (method == "PATCH" && named) return Verb::kPatch;
  if (method == "DELETE") return named ? Verb::kDelete : Verb::kDeleteCollection;
  return Refuse(MethodNotAllowed());
}

// Subresources that take a POST of something else than the resource's kind.
bool TakesPost(std::string_view subresource) { return subresource == "binding" || subresource == "eviction"; }

ApiResult<void> CheckVerb(const Route& route) {
  const Target& target = route.target;
  if (target.resource->create_only && route.verb != Verb::kCreate) return Refuse(MethodNotAllowed());
  if (route.verb == Verb::kCreate) {
    if (target.resource->namespaced && target.namespace_name.empty()) return Refuse(MethodNotAllowed());
    const bool allowed = target.name.empty() || TakesPost(target.subresource);
    return allowed ? ApiResult<void>() : Refuse(MethodNotAllowed());
  }
  if (TakesPost(target.subresource)) return Refuse(MethodNotAllowed());
  const bool removes = route.verb == Verb::kDelete || route.verb == Verb::kDeleteCollection;
  if (removes && !target.subresource.empty()) return Refuse(MethodNotAllowed());
  return {};
}

}  // namespace

std::string_view NameOf(Verb verb) {
  switch (verb) {
    case Verb::kGet:
      return "get";
    case Verb::kList:
      return "list";
    case Verb::kWatch:
      return "watch";
    case Verb::kCreate:
      return "create";
    case Verb::kUpdate:
      return "update";
    case Verb::kPatch:
      return "patch";
    case Verb::kDelete:
      return "delete";
    case Verb::kDeleteCollection:
      break;
  }
  return "deletecollection";
}

std::string_view Route::parameter(std::string_view name) const {
  const std::string* value = net::FindQuery(query, name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

bool Route::flag(std::string_view name) const {
  const std::string* value = net::FindQuery(query, name);
  return value != nullptr && (value->empty() || *value == "true" || *value == "1");
}

ApiResult<std::vector<std::string>> PathSegments(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view part : SplitText(path, '/')) {
    std::optional<std::string> decoded = net::PercentDecode(part, false);
    if (!decoded) return Refuse(BadRequest("the path holds a broken escape"));
    segments.push_back(std::move(*decoded));
  }
  return segments;
}

ApiResult<Route> ParseRoute(const net::Request& request) {
  const ApiResult<std::vector<std::string>> segments = PathSegments(request.path());
  if (!segments) return Refuse(segments.error());
  const bool is_core = segments->size() >= 2 && segments->front() == "api";
  const bool is_grouped = segments->size() >= 3 && segments->front() == "apis";
  if (!is_core && !is_grouped) return Refuse(PathNotFound());
  base::Result<net::QueryPairs> query = net::ParseQuery(request.query());
  if (!query) return Refuse(BadRequest(query.error().message));

  const Segments all(*segments);
  ApiResult<Target> target =
      is_core ? ParseTarget("", all[1], all.subspan(2)) : ParseTarget(all[1], all[2], all.subspan(3));
  if (!target) return Refuse(std::move(target.error()));
  Route route{.target = std::move(*target), .query = std::move(*query)};
  const ApiResult<Verb> verb = VerbOf(request.method, route);
  if (!verb) return Refuse(verb.error());
  route.verb = *verb;
  const ApiResult<void> allowed = CheckVerb(route);
  if (!allowed) return Refuse(allowed.error());
  return route;
}

}  // namespace berth::sandbox
