#include "server/api_reviewer.h"

#include <boost/json.hpp>
#include <chrono>
#include <utility>

namespace berth::server {
namespace {

namespace json = boost::json;

// Null where there is nothing, or nothing of that shape.
const json::value* At(const json::value& value, std::initializer_list<std::string_view> keys) {
  const json::value* at = &value;
  for (const std::string_view key : keys) {
    const json::object* const object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string TextAt(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool TruthAt(const json::value* value) { return value != nullptr && value->is_bool() && value->get_bool(); }

json::value ParseOrNull(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  return error ? json::value() : value;
}

// Apart from the coroutines that use them: temporaries of such expressions must not live in their frames.
std::string TokenReviewBody(const std::string& token) {
  return json::serialize(json::object{{"apiVersion", "authentication.k8s.io/v1"},
                                      {"kind", "TokenReview"},
                                      {"spec", json::object{{"token", token}}}});
}

std::string AccessReviewBody(const Identity& identity, const std::string& verb, const std::string& path) {
  json::array groups;
  for (const std::string& group : identity.groups) groups.push_back(json::string(group));
  json::object spec{{"nonResourceAttributes", json::object{{"path", path}, {"verb", verb}}},
                    {"user", identity.name},
                    {"groups", std::move(groups)}};
  if (!identity.uid.empty()) spec["uid"] = identity.uid;
  if (!identity.extra.empty()) {
    json::object extra;
    for (const auto& [key, values] : identity.extra) {
      json::array list;
      for (const std::string& value : values) list.push_back(json::string(value));
      extra[key] = std::move(list);
    }
    spec["extra"] = std::move(extra);
  }
  return json::serialize(json::object{
      {"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}});
}

std::optional<Identity> ReadIdentity(const std::string& body) {
  const json::value review = ParseOrNull(body);
  if (!TruthAt(At(review, {"status", "authenticated"}))) return std::nullopt;
  Identity identity;
  identity.name = TextAt(At(review, {"status", "user", "username"}));
  identity.uid = TextAt(At(review, {"status", "user", "uid"}));
  const json::value* const groups = At(review, {"status", "user", "groups"});
  if (groups != nullptr && groups->is_array()) {
    for (const json::value& group : groups->get_array()) identity.groups.push_back(TextAt(&group));
  }
  const json::value* const extra = At(review, {"status", "user", "extra"});
  if (extra != nullptr && extra->is_object()) {
    for (const auto& [key, values] : extra->get_object()) {
      if (!values.is_array()) continue;
      std::vector<std::string>& kept = identity.extra[key];
      for (const json::value& value : values.get_array()) kept.push_back(TextAt(&value));
    }
  }
  return identity;
}

bool ReadAllowed(const std::string& body) { return TruthAt(At(ParseOrNull(body), {"status", "allowed"})); }

// A list that is a JSON text within the JSON text.
std::vector<std::string> ListAt(const json::value& config_map, std::string_view key) {
  std::vector<std::string> values;
  const json::value list = ParseOrNull(TextAt(At(config_map, {"data", key})));
  if (!list.is_array()) return values;
  for (const json::value& value : list.get_array()) {
    if (value.is_string()) values.push_back(TextAt(&value));
  }
  return values;
}

client::ApiClientOptions ClientOptions(std::string user_agent) {
  client::ApiClientOptions options;
  options.user_agent = std::move(user_agent);
  options.accept = std::string(client::kJsonType);
  options.rate = {.per_second = 200, .burst = 400};
  options.timeout = std::chrono::seconds(10);
  return options;
}

}  // namespace

ClusterTrust ReadClusterTrust(const std::string& config_map) {
  const json::value map = ParseOrNull(config_map);
  ClusterTrust trust;
  trust.client_authorities = TextAt(At(map, {"data", "client-ca-file"}));
  trust.proxy_authorities = TextAt(At(map, {"data", "requestheader-client-ca-file"}));
  trust.front_proxy.username_headers = ListAt(map, "requestheader-username-headers");
  trust.front_proxy.uid_headers = ListAt(map, "requestheader-uid-headers");
  trust.front_proxy.group_headers = ListAt(map, "requestheader-group-headers");
  trust.front_proxy.extra_header_prefixes = ListAt(map, "requestheader-extra-headers-prefix");
  trust.front_proxy.allowed_names = ListAt(map, "requestheader-allowed-names");
  return trust;
}

base::Result<std::unique_ptr<ApiReviewer>> ApiReviewer::Make(client::LoopExecutor& executor,
                                                             client::ConnectionConfig config,
                                                             std::string user_agent) {
  auto connection =
      client::Connection::Make(executor, std::move(config), client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  return std::unique_ptr<ApiReviewer>(
      new ApiReviewer(executor, *std::move(connection), std::move(user_agent)));
}

ApiReviewer::ApiReviewer(client::LoopExecutor& executor, std::unique_ptr<client::Connection> connection,
                         std::string user_agent)
    : connection_(std::move(connection)),
      client_(executor.executor(), connection_->transport(), connection_->credentials(),
              ClientOptions(std::move(user_agent))) {}

base::Task<base::Result<std::string>> ApiReviewer::Send(std::string method, std::string path,
                                                        std::string body) {
  client::ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  if (!body.empty()) request.content_type = std::string(client::kJsonType);
  request.body = std::move(body);
  auto response = co_await client_.Send(std::move(request));
  if (!response) co_return base::Fail(response.error().message);
  co_return std::move(response->body);
}

base::Task<base::Result<std::optional<Identity>>> ApiReviewer::ReviewToken(std::string token) {
  const auto body =
      co_await Send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", TokenReviewBody(token));
  if (!body) co_return std::unexpected(body.error());
  co_return ReadIdentity(*body);
}

base::Task<base::Result<bool>> ApiReviewer::ReviewAccess(Identity identity, std::string verb,
                                                         std::string path) {
  const auto body = co_await Send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                  AccessReviewBody(identity, verb, path));
  if (!body) co_return std::unexpected(body.error());
  co_return ReadAllowed(*body);
}

base::Task<base::Result<ClusterTrust>> ApiReviewer::Trusted() {
  const auto body = co_await Send(
      "GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", std::string());
  if (!body) co_return std::unexpected(body.error());
  co_return ReadClusterTrust(*body);
}

}  // namespace berth::server
