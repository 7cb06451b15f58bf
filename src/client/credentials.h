#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/exec_plugin.h"
#include "client/kubeconfig.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/event.h"
#include "base/task.h"
#include "net/http_message.h"

namespace berth::client {

// Who a request comes from.
class Credentials {
 public:
  virtual ~Credentials() = default;
  // Adds what identifies the caller, if that is known already; otherwise Apply asks somebody first.
  virtual bool ApplyNow(net::Headers&) { return false; }
  virtual base::Task<base::Result<void>> Apply(net::Headers& headers) = 0;
  // The server did not accept what Apply added.
  virtual void OnUnauthorized() {}
};

// A bearer token that may live in a file, which is read again when what is known of it is 50 seconds old. A
// file that cannot be read or is empty changes nothing: the last good token stays.
class TokenSource {
 public:
  TokenSource(const base::Clock& clock, const Surroundings& surroundings, std::string token,
              std::string file);

  // Empty: there is none.
  const std::string& Get();
  // The server refused it: the file may have a newer one. It is read at most once a second, since a server
  // may refuse many requests.
  void OnRefused();

 private:
  const base::Clock& clock_;
  const Surroundings& surroundings_;
  std::string token_;
  const std::string file_;
  std::optional<base::TimePoint> read_at_;
};

// The credentials of a kubeconfig's user.
class UserCredentials final : public Credentials {
 public:
  // Told when an exec command hands out another client certificate than before.
  using CertificateCallback = std::function<void(const net::KeyPair& pair)>;

  // `processes` is needed for exec only. All that is referred to outlives this object.
  UserCredentials(base::Executor& executor, const ConnectionConfig& config, const Surroundings& surroundings,
                  ProcessRunner* processes, CertificateCallback on_certificate = nullptr);

  bool ApplyNow(net::Headers& headers) override;
  base::Task<base::Result<void>> Apply(net::Headers& headers) override;
  void OnUnauthorized() override;

 private:
  const ConnectionConfig& config_;
  TokenSource token_;
  std::optional<ExecPlugin> exec_;
};

}  // namespace berth::client
