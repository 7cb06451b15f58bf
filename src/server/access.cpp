#include "server/access.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/go_text.h"

namespace berth::server {
namespace {

namespace json = boost::json;

// Strangers choose tokens and paths: what is remembered of them stays bounded.
constexpr std::size_t kRememberedMax = 4096;
constexpr std::string_view kAnonymous = "system:anonymous";

Answer StatusAnswer(int code, std::string_view reason, const std::string& message) {
  json::object status{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
                      {"status", "Failure"}, {"message", message}, {"reason", reason}};
  if (code == 403) status["details"] = json::object();
  status["code"] = code;
  return {code, json::serialize(status) + "\n", "application/json"};
}

// The token of "Bearer TOKEN"; other schemes are not looked at.
std::string_view BearerToken(const net::Request& request) {
  const std::string* const header = request.headers.Find("Authorization");
  if (header == nullptr) return {};
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view text = net::TrimBlanks(*header);
  if (text.size() < kScheme.size() || !net::EqualsIgnoringCase(text.substr(0, kScheme.size()), kScheme))
    return {};
  return net::TrimBlanks(text.substr(kScheme.size()));
}

void AddAuthenticated(Identity& identity) {
  constexpr std::string_view kGroup = "system:authenticated";
  if (std::ranges::find(identity.groups, kGroup) == identity.groups.end()) {
    identity.groups.emplace_back(kGroup);
  }
}

// Everything that an authorizer may look at.
std::string KeyOf(const Identity& identity, std::string_view verb, std::string_view path) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", verb, path, identity.name, identity.uid,
                                fmt::join(identity.groups, "\n"));
  for (const auto& [name, values] : identity.extra) {
    key += fmt::format("\n\n{}\n{}", name, fmt::join(values, "\n"));
  }
  return key;
}

std::string Verb(std::string_view method) {
  std::string verb(method);
  for (char& c : verb) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return verb;
}

}  // namespace

const Access::Remembered* Access::Find(const Cache& cache, const std::string& key) const {
  const auto found = cache.find(key);
  return found != cache.end() && clock_.Now() < found->second.until ? &found->second : nullptr;
}

void Access::Remember(Cache& cache, const std::string& key, Remembered entry) {
  if (cache.size() >= kRememberedMax) {
    const base::TimePoint now = clock_.Now();
    absl::erase_if(cache, [&](const auto& old) { return old.second.until <= now; });
    if (cache.size() >= kRememberedMax) cache.clear();
  }
  cache.insert_or_assign(key, std::move(entry));
}

// Nobody if there is no certificate, or none that anyone here looks at; an error if it proves nothing.
base::Result<std::optional<Identity>> Access::IdentityByCertificate(const net::Request& request) const {
  if (request.peer == nullptr) return std::nullopt;
  const net::PeerCertificate& peer = *request.peer;
  std::string refusal;
  if (trust_.front_proxy) {
    if (!peer.is_vouched_for(kProxyAuthorities)) {
      refusal = "x509: certificate signed by unknown authority";
    } else if (!trust_.front_proxy->Allows(peer.subject.common_name)) {
      refusal = fmt::format("x509: subject with cn={} is not in the allowed list", peer.subject.common_name);
    } else if (auto identity = ProxiedIdentity(*trust_.front_proxy, request.headers)) {
      return identity;
    }
  }
  if (trust_.knows_clients) {
    if (!peer.is_vouched_for(kClientAuthorities)) {
      refusal = "x509: certificate signed by unknown authority";
    } else if (!peer.subject.common_name.empty()) {
      Identity identity{peer.subject.common_name, "", peer.subject.organizations};
      identity.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + peer.fingerprint};
      return identity;
    }
  }
  if (!refusal.empty()) return base::Fail(refusal);
  return std::nullopt;
}

base::Task<base::Result<std::optional<Identity>>> Access::IdentityOf(const net::Request& request) {
  auto shown = IdentityByCertificate(request);
  if (shown && *shown) {
    AddAuthenticated(**shown);
    co_return shown;
  }
  const std::string token(BearerToken(request));
  if (token.empty() || authentication_ == nullptr) {
    if (!shown) co_return shown;
    Identity anonymous;
    anonymous.name = kAnonymous;
    anonymous.groups.emplace_back("system:unauthenticated");
    co_return anonymous;
  }
  if (const Remembered* const known = Find(tokens_, token)) co_return known->identity;
  auto identity = co_await authentication_->ReviewToken(token);
  if (!identity) co_return std::unexpected(identity.error());
  if (*identity) AddAuthenticated(**identity);
  Remember(tokens_, token, {clock_.Now() + options_.token_ttl, *identity, false});
  co_return *identity;
}

bool Access::IsAlwaysAllowed(std::string_view path) const {
  return std::ranges::any_of(options_.always_allow_paths, [&](std::string_view allowed) {
    if (allowed.ends_with('*')) return path.starts_with(allowed.substr(0, allowed.size() - 1));
    return path == allowed;
  });
}

base::Task<base::Result<bool>> Access::MayAccess(const Identity& identity, std::string verb,
                                                 std::string path) {
  if (std::ranges::find(identity.groups, "system:masters") != identity.groups.end()) co_return true;
  if (IsAlwaysAllowed(path)) co_return true;
  if (authorization_ == nullptr) co_return false;
  const std::string key = KeyOf(identity, verb, path);
  if (const Remembered* const known = Find(accesses_, key)) co_return known->allowed;
  const auto allowed = co_await authorization_->ReviewAccess(identity, std::move(verb), std::move(path));
  if (!allowed) co_return std::unexpected(allowed.error());
  const base::Duration ttl = *allowed ? options_.allowed_ttl : options_.refused_ttl;
  Remember(accesses_, key, {clock_.Now() + ttl, std::nullopt, *allowed});
  co_return *allowed;
}

base::Task<AccessVerdict> Access::Check(const net::Request& request) {
  const base::TimePoint began = clock_.Now();
  const auto identity = co_await IdentityOf(request);
  if (metrics_ != nullptr) {
    const std::string_view result = !identity ? "error" : *identity ? "success" : "failure";
    metrics_->ObserveAuthentication(result, clock_.Now() - began);
  }
  // Whoever shows a token must show a good one, even where none is needed.
  AccessVerdict verdict;
  if (!identity || !*identity) {
    verdict.refusal = StatusAnswer(401, "Unauthorized", "Unauthorized");
    co_return verdict;
  }
  verdict.is_stranger = (*identity)->name == kAnonymous;
  verdict.refusal = co_await Refusal(request, **identity);
  co_return verdict;
}

base::Task<std::optional<Answer>> Access::Refusal(const net::Request& request, const Identity& identity) {
  const std::string path(request.path());
  const std::string verb = Verb(request.method);
  const base::TimePoint began = clock_.Now();
  const auto allowed = co_await MayAccess(identity, verb, path);
  if (metrics_ != nullptr) {
    // Whoever is not allowed is not forbidden either: nobody has an opinion.
    const std::string_view result = !allowed ? "error" : *allowed ? "allowed" : "no-opinion";
    metrics_->ObserveAuthorization(result, clock_.Now() - began);
  }
  if (!allowed) {
    co_return Answer{500, fmt::format("Internal Server Error: {}: {}\n", base::QuoteGo(request.target),
                                      allowed.error().message)};
  }
  if (*allowed) co_return std::nullopt;
  co_return StatusAnswer(403, "Forbidden",
                         fmt::format("forbidden: User {} cannot {} path {}", base::QuoteGo(identity.name),
                                     verb, base::QuoteGo(path)));
}

}  // namespace berth::server
