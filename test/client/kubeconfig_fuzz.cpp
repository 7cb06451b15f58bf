#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/kubeconfig.h"

#include "base/check.h"

// A kubeconfig of any bytes is read or refused. What comes out never has credentials for a server without
// TLS.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using berth::client::Surroundings;
  const Surroundings around{
      .environment = [](const std::string&) -> std::optional<std::string> { return std::nullopt; },
      .read_file = [](const std::string& path) -> berth::base::Result<std::string> {
        if (path.contains("none")) return berth::base::Fail("open " + path + ": no such file");
        return std::string("text");
      }};
  const auto config =
      berth::client::ParseKubeconfig({reinterpret_cast<const char*>(data), size}, "/etc", "", around);
  if (config && !config->server.is_https()) {
    BERTH_CHECK(config->token.empty() && config->password.empty() && config->tls.key.empty() &&
                !config->exec);
  }
  return 0;
}
