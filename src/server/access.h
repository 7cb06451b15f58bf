#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "net/http_server.h"
#include "server/access_metrics.h"
#include "server/front_proxy.h"
#include "server/health.h"

namespace berth::server {

// What an API server says about tokens and rights.
class Reviewer {
 public:
  virtual ~Reviewer() = default;
  // Nothing: the token is not good.
  virtual base::Task<base::Result<std::optional<Identity>>> ReviewToken(std::string token) = 0;
  // Whether the identity may do `verb` on the path.
  virtual base::Task<base::Result<bool>> ReviewAccess(Identity identity, std::string verb,
                                                      std::string path) = 0;
};

// Whose certificates count. The port asks for them with these groups of authorities, in this order.
inline constexpr std::size_t kClientAuthorities = 0;
inline constexpr std::size_t kProxyAuthorities = 1;

struct Trust {
  bool knows_clients = false;                  // certificates name users
  std::optional<FrontProxyRules> front_proxy;  // certificates of proxies, whose headers name users
};

struct AccessVerdict {
  std::optional<Answer> refusal;  // nothing: it may
  bool is_stranger = true;        // nobody, or anonymous
};

struct AccessOptions {
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  base::Duration token_ttl = std::chrono::seconds(10);
  base::Duration allowed_ttl = std::chrono::seconds(10);
  base::Duration refused_ttl = std::chrono::seconds(10);
};

// Decides whether a request may be answered, as kube-scheduler does: the headers of a proxy, then the
// client's certificate, then a bearer token, then anonymous; the group system:masters, then paths that
// everybody may read, then what the API server says. Whoever shows a certificate that proves nothing is
// nobody, and not anonymous.
class Access {
 public:
  // Null: there is nobody to ask; tokens then mean nothing, and only the first two rules allow anything.
  Access(AccessOptions options, Reviewer* authentication, Reviewer* authorization, const base::Clock& clock,
         AccessMetrics* metrics = nullptr)
      : options_(std::move(options)),
        authentication_(authentication),
        authorization_(authorization),
        clock_(clock),
        metrics_(metrics) {}

  // For requests from now on; nobody is known by a certificate before.
  void Believe(Trust trust) { trust_ = std::move(trust); }

  base::Task<AccessVerdict> Check(const net::Request& request);

 private:
  struct Remembered {
    base::TimePoint until;
    std::optional<Identity> identity;  // of tokens
    bool allowed = false;              // of accesses
  };
  using Cache = absl::flat_hash_map<std::string, Remembered>;

  base::Task<base::Result<std::optional<Identity>>> IdentityOf(const net::Request& request);
  base::Result<std::optional<Identity>> IdentityByCertificate(const net::Request& request) const;
  base::Task<std::optional<Answer>> Refusal(const net::Request& request, const Identity& identity);
  base::Task<base::Result<bool>> MayAccess(const Identity& identity, std::string verb, std::string path);
  bool IsAlwaysAllowed(std::string_view path) const;
  const Remembered* Find(const Cache& cache, const std::string& key) const;
  void Remember(Cache& cache, const std::string& key, Remembered entry);

  const AccessOptions options_;
  Reviewer* const authentication_;
  Reviewer* const authorization_;
  const base::Clock& clock_;
  AccessMetrics* const metrics_;  // null: nothing is counted
  Trust trust_;
  Cache tokens_;
  Cache accesses_;
};

}  // namespace berth::server
