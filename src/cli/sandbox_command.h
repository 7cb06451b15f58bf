#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

// The flags of `berth sandbox`.
struct SandboxOptions {
  std::string listen = "127.0.0.1:0";  // port 0: any free one
  std::string kubeconfig_out = "berth-sandbox.kubeconfig";
  int nodes = 0;
  std::vector<std::string> manifests = {};
  bool no_scheduler = false;
  bool no_controllers = false;
  std::vector<std::string> disabled_controllers = {};
  bool no_kubelet = false;
  std::optional<std::uint16_t> insecure_port = {};
  std::string data_dir = {};
  std::vector<std::string> faults = {};
  std::string token_auth_file = {};
  std::string audit_log = {};
  bool narrate = false;
};

// Serves a control plane until the process is told to end. Says `ready` and where the kubeconfig is once
// requests are answered. Returns the exit code; what went wrong goes to `errors`.
int RunSandbox(const SandboxOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace berth::cli
