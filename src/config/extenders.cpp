#include "config/extenders.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files.h"

namespace berth::config {
namespace {

base::Result<std::string> DataOrFile(const Base64Bytes& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data.bytes;
  return base::ReadFile(file);
}

bool HasPem(std::string_view text) { return text.contains("-----BEGIN "); }

base::Result<void> CheckTls(const Extender& extender) {
  ExtenderTls tls = extender.tls_config.value_or(ExtenderTls{});
  const bool has_ca = !tls.ca_data.empty() || !tls.ca_file.empty();
  if (extender.enable_https && !has_ca) tls.insecure = true;
  const bool has_pair =
      (!tls.cert_data.empty() || !tls.cert_file.empty()) && (!tls.key_data.empty() || !tls.key_file.empty());
  if (!has_ca && !has_pair && !tls.insecure && tls.server_name.empty()) return {};
  if (has_ca && tls.insecure) {
    return base::Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  const auto ca = DataOrFile(tls.ca_data, tls.ca_file);
  if (!ca) return std::unexpected(ca.error());
  const auto certificate = DataOrFile(tls.cert_data, tls.cert_file);
  if (!certificate) return std::unexpected(certificate.error());
  const auto key = DataOrFile(tls.key_data, tls.key_file);
  if (!key) return std::unexpected(key.error());
  if (has_ca && !HasPem(*ca)) {
    return base::Fail("unable to load root certificates: unable to parse bytes as PEM block");
  }
  if (has_pair && !HasPem(*certificate)) {
    return base::Fail("tls: failed to find any PEM data in certificate input");
  }
  if (has_pair && !HasPem(*key)) return base::Fail("tls: failed to find any PEM data in key input");
  return {};
}

base::Result<void> IgnoreResources(Profile& profile, const std::vector<std::string>& resources) {
  for (PluginConfig& config : profile.plugin_config) {
    if (auto* const fit = std::get_if<NodeResourcesFitArgs>(&config.typed)) {
      fit->ignored_resources = resources;
      return {};
    }
  }
  return base::Fail("can't find NodeResourcesFitArgs in plugin config");
}

}  // namespace

base::Result<void> PrepareExtenders(Configuration& configuration) {
  std::vector<std::string> ignored;
  for (const Extender& extender : configuration.extenders) {
    if (const auto checked = CheckTls(extender); !checked) return checked;
    for (const ManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (Profile& profile : configuration.profiles) {
    if (const auto done = IgnoreResources(profile, ignored); !done) return done;
  }
  return {};
}

}  // namespace berth::config
