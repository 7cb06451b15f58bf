#include "sandbox/api_server.h"

#include <algorithm>
#include <boost/json.hpp>

#include "sandbox/discovery.h"
#include "sandbox/openapi.h"
#include "sandbox/table.h"
#include "sandbox/text_parts.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

void SendAnswer(Exchange& exchange, const Answer& answer) {
  exchange.Send(answer.code, answer.headers, answer.body);
}

bool IsOpenToAll(std::string_view path) {
  return path == "/version" || path == "/healthz" || path == "/livez" || path == "/readyz" ||
         path.starts_with("/livez/") || path.starts_with("/readyz/") || path.starts_with("/healthz/");
}

// Other paths are none of the API's: the web server under it answers them.
bool IsInServedGroup(std::string_view path) {
  const std::vector<std::string_view> parts = SplitText(path, '/');
  if (parts.size() >= 2 && parts[0] == "api") return true;
  if (parts.size() < 3 || parts[0] != "apis") return false;
  const auto served = ResourceTable::Get().group_versions();
  return std::ranges::any_of(
      served, [&](const ResourceTable::GroupVersion& known) { return known.group == parts[1]; });
}

json::object VersionDocument() {
  json::object version;
  version["major"] = "1";
  version["minor"] = "37";
  version["gitVersion"] = "v1.37.0";
  version["gitCommit"] = "";
  version["gitTreeState"] = "clean";
  version["buildDate"] = "1970-01-01T00:00:00Z";
  version["goVersion"] = "";
  version["compiler"] = "";
  version["platform"] = "linux/amd64";
  return version;
}

}  // namespace

ApiServer::ApiServer(ObjectWriter& writer, const base::Clock& clock, base::TimerQueue& timers,
                     Options options)
    : writer_(writer),
      store_(writer.store()),
      clock_(clock),
      timers_(timers),
      options_(std::move(options)),
      random_(options_.seed) {}

ApiServer::~ApiServer() = default;

const User* ApiServer::UserOf(const net::Request& request, bool trusted) const {
  static const User kAnonymous{.name = "system:anonymous"};
  if (trusted || options_.users.empty()) return &Administrator();
  if (const User* known = options_.users.Of(request)) return known;
  return IsOpenToAll(request.path()) ? &kAnonymous : nullptr;
}

void ApiServer::Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted) {
  const std::string* accept = request.headers.Find("Accept");
  const User* user = UserOf(request, trusted);
  if (user == nullptr) {
    SendAnswer(*exchange, ErrorAnswer(Unauthorized(), NegotiateError(accept).media));
    return;
  }
  ApiResult<Route> route = ParseRoute(request);
  if (!route) {
    Answer answer = AnswerOther(request, route.error());
    CompressIfLarge(answer, request.headers);
    SendAnswer(*exchange, answer);
    return;
  }
  const ApiResult<AnswerForm> form = NegotiateAnswer(accept, route->verb == Verb::kWatch);
  if (!form) {
    SendAnswer(*exchange, ErrorAnswer(form.error(), MediaType::kJson));
    return;
  }
  HandleResource({.request = request, .user = *user, .route = std::move(*route), .form = *form},
                 std::move(exchange));
}

// Everything that is no resource: discovery, health, version.
Answer ApiServer::AnswerOther(const net::Request& request, const StatusError& not_found) const {
  const std::string* accept = request.headers.Find("Accept");
  const std::string_view path = request.path();
  const AnswerForm form = NegotiateError(accept);
  if (request.method == "GET" || request.method == "HEAD") {
    if (path == "/version") return DocumentAnswer(200, VersionDocument(), MediaType::kJson);
    if (IsOpenToAll(path)) return TextAnswer(200, "ok");
    if (std::optional<Answer> answer = AnswerDiscovery(path, accept)) return std::move(*answer);
    if (std::optional<Answer> answer =
            AnswerOpenApi(path, accept == nullptr ? "" : std::string_view(*accept)))
      return std::move(*answer);
  }
  if (not_found.code == 404 && !IsInServedGroup(path)) return TextAnswer(404, "404 page not found\n");
  return ErrorAnswer(not_found, form.media);
}

void ApiServer::HandleResource(Call call, std::unique_ptr<Exchange> exchange) {
  if (call.route.verb == Verb::kWatch) {
    Watch(call, std::move(exchange));
    return;
  }
  if (call.route.verb == Verb::kList) {
    List(call, std::move(exchange));
    return;
  }
  ApiResult<Answer> answer = AnswerVerb(call);
  if (!answer) answer = ErrorAnswer(answer.error(), call.form.media);
  AddWarnings(*answer, call.warnings);
  CompressIfLarge(*answer, call.request.headers);
  SendAnswer(*exchange, *answer);
}

ApiResult<Answer> ApiServer::AnswerVerb(Call& call) {
  if (call.route.target.subresource == "scale") return Scale(call);
  switch (call.route.verb) {
    case Verb::kGet:
      return Get(call);
    case Verb::kCreate:
      return Create(call);
    case Verb::kUpdate:
      return Update(call);
    case Verb::kPatch:
      return Patch(call);
    case Verb::kDelete:
      return Delete(call);
    case Verb::kDeleteCollection:
      return DeleteCollection(call);
    case Verb::kList:
    case Verb::kWatch:
      break;
  }
  return Refuse(PathNotFound());
}

Answer ApiServer::Show(const Call& call, int code, const RevisionPtr& object) const {
  const Resource& served = *call.route.target.resource;
  switch (call.form.shape) {
    case Shape::kObject:
      return ObjectAnswer(code, served, *object, call.form.media);
    case Shape::kMetadata:
      return DocumentAnswer(code, MetadataOnly(served, *object), call.form.media);
    case Shape::kTable:
      break;
  }
  const TableOptions options{.include_object = call.route.parameter("includeObject"),
                             .now = clock_.WallNow()};
  return DocumentAnswer(code, MakeTable(served, {&object, 1}, {.version = object->version()}, options),
                        call.form.media);
}

}  // namespace berth::sandbox
