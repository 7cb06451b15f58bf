#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/kubeconfig.h"
#include "client/process_runner.h"

#include "base/event.h"
#include "base/executor.h"
#include "net/certificates.h"

namespace berth::client {

// What an exec command hands out.
struct ExecCredential {
  std::string token;
  std::optional<net::KeyPair> certificate;
  std::optional<base::WallPoint> expires;
};

// Reads the ExecCredential that a command printed.
base::Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version);

// Asks a command for credentials and keeps them until they expire or a server refuses them. One run at a
// time: requests that come meanwhile wait for it.
class ExecPlugin {
 public:
  ExecPlugin(base::Executor& executor, ExecConfig config, ProcessRunner& processes,
             std::function<void(const net::KeyPair&)> on_certificate);

  base::Task<base::Result<std::string>> Token();
  void Forget() { credential_.reset(); }

 private:
  base::Task<base::Result<void>> Refresh();
  base::Result<ExecCredential> Judge(const CommandOutcome& outcome) const;
  bool IsFresh() const;

  base::Executor& executor_;
  const ExecConfig config_;
  ProcessRunner& processes_;
  std::function<void(const net::KeyPair&)> on_certificate_;
  std::optional<ExecCredential> credential_;
  std::optional<net::KeyPair> certificate_in_use_;
  bool running_ = false;
  base::Event finished_;
};

}  // namespace berth::client
