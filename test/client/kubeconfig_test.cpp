#include "client/kubeconfig.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class KubeconfigTest : public testing::Test {
 protected:
  Surroundings Around() {
    return {.environment = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = environment_.find(name);
              if (found == environment_.end()) return std::nullopt;
              return found->second;
            },
            .read_file = [this](const std::string& path) -> base::Result<std::string> {
              const auto found = files_.find(path);
              if (found == files_.end()) return base::Fail("open " + path + ": No such file or directory");
              return found->second;
            }};
  }
  // A file with one cluster and one user, whose members are given as YAML.
  static std::string File(const std::string& cluster, const std::string& user = "{}") {
    return "apiVersion: v1\nkind: Config\ncurrent-context: ctx\n"
           "contexts: [{name: ctx, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: " +
           cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
  }
  base::Result<ConnectionConfig> Parse(const std::string& text, const std::string& master = "") {
    return ParseKubeconfig(text, "/etc/k8s", master, Around());
  }
  std::string ErrorOf(const std::string& text) {
    const auto config = Parse(text);
    return config ? "no error" : config.error().message;
  }

  std::map<std::string, std::string> environment_;
  std::map<std::string, std::string> files_;
};

TEST_F(KubeconfigTest, ReadsTheCurrentContext) {
  files_["/etc/k8s/pki/ca.crt"] = "ca";
  files_["/abs/client.crt"] = "crt";
  files_["/etc/k8s/client.key"] = "key";
  const auto config =
      Parse(File("{server: 'https://api:6443/prefix', certificate-authority: pki/ca.crt, "
                 "tls-server-name: other}",
                 "{client-certificate: /abs/client.crt, client-key: ./client.key, as: bob, "
                 "as-groups: [g], as-user-extra: {k: [v]}}"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server.ToString(), "https://api:6443/prefix");
  EXPECT_EQ(config->tls.authority.file, "/etc/k8s/pki/ca.crt");
  EXPECT_EQ(config->tls.certificate.file, "/abs/client.crt");
  EXPECT_EQ(config->tls.key.file, "/etc/k8s/client.key");
  EXPECT_EQ(config->tls.server_name, "other");
  EXPECT_EQ(config->impersonation.user, "bob");
  EXPECT_EQ(config->impersonation.extra[0].second[0], "v");
}

TEST_F(KubeconfigTest, DataIsDecoded) {
  const auto config = Parse(File("{server: 'https://api', certificate-authority-data: Y2E=}"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->tls.authority.text, "ca");
  EXPECT_THAT(ErrorOf(File("{server: 'https://api', certificate-authority-data: '!'}")),
              HasSubstr("clusters[0].cluster.certificate-authority-data: illegal base64 data"));
}

TEST_F(KubeconfigTest, MasterStandsForTheServer) {
  const auto config = Parse(File("{server: 'https://api', tls-server-name: other}"), "https://elsewhere:1");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->server.host, "elsewhere");
  EXPECT_EQ(config->tls.server_name, "");
}

// Case 41, second half.
TEST_F(KubeconfigTest, Case41CredentialsNeverGoInTheClear) {
  for (const std::string server : {"http://api:8080", "api:8080"}) {
    const auto config = Parse(File("{server: '" + server + "'}", "{token: secret}"));
    ASSERT_TRUE(config.has_value()) << config.error().message;
    EXPECT_EQ(config->server.scheme, "http");
    EXPECT_EQ(config->token, "");
  }
  EXPECT_EQ(Parse(File("{server: 'https://api'}", "{token: secret}"))->token, "secret");
}

// Case 42.
TEST_F(KubeconfigTest, Case42FileAndDataTogetherAreRefused) {
  files_["/etc/k8s/ca.crt"] = "ca";
  EXPECT_EQ(
      ErrorOf(
          File("{server: 'https://api', certificate-authority: ca.crt, certificate-authority-data: Y2E=}")),
      "invalid configuration: certificate-authority-data and certificate-authority are both specified for c. "
      "certificate-authority-data will override.");
}

TEST_F(KubeconfigTest, Case42ProxyOfAnotherSchemeIsRefused) {
  EXPECT_EQ(
      ErrorOf(File("{server: 'https://api', proxy-url: 'ftp://x'}")),
      "invalid configuration: invalid 'proxy-url' \"ftp://x\" for cluster \"c\": unsupported scheme \"ftp\", "
      "must be http, https, or socks5");
  EXPECT_EQ(Parse(File("{server: 'https://api', proxy-url: 'http://x:3128'}"))->proxy->HostPort(), "x:3128");
}

TEST_F(KubeconfigTest, ProblemsAreToldTogether) {
  EXPECT_EQ(
      ErrorOf(
          File("{server: 'https://api', certificate-authority: /none}", "{client-certificate-data: Y2E=}")),
      "invalid configuration: [client-key-data or client-key must be specified for u to use the clientCert "
      "authentication method., unable to read certificate-authority /none for c due to open /none: No such "
      "file or directory]");
  files_["/ca"] = "ca";
  EXPECT_EQ(
      ErrorOf(File("{server: 'https://api', certificate-authority: /ca, insecure-skip-tls-verify: true}")),
      "specifying a root certificates file with the insecure flag is not allowed");
  EXPECT_EQ(ErrorOf("kind: Config\ncurrent-context: gone\n"),
            "context was not found for specified context: gone");
  EXPECT_THAT(ErrorOf(""), StartsWith("invalid configuration: no configuration has been provided"));
  EXPECT_EQ(ErrorOf(File("{tls-server-name: x}")),
            "invalid configuration: no server found for cluster \"c\"");
  EXPECT_EQ(ErrorOf(File("{server: 5}")), "clusters[0].cluster.server: must be a string");
}

// Each field once with something else than it may hold: the error names it.
TEST_F(KubeconfigTest, EveryFieldThatIsWrongIsNamed) {
  const std::string cluster = "clusters[0].cluster.";
  for (const auto& [field, wanted] : {std::pair("server", "a string"),
                                      {"tls-server-name", "a string"},
                                      {"insecure-skip-tls-verify", "a boolean"},
                                      {"certificate-authority", "a string"},
                                      {"certificate-authority-data", "a string"},
                                      {"proxy-url", "a string"},
                                      {"disable-compression", "a boolean"},
                                      {"extensions", "a list"}}) {
    EXPECT_EQ(ErrorOf(File(std::string("{") + field + ": 5}")), cluster + field + ": must be " + wanted);
  }
  const std::string user = "users[0].user.";
  for (const auto& [field, wanted] : {std::pair("client-certificate", "a string"),
                                      {"client-certificate-data", "a string"},
                                      {"client-key", "a string"},
                                      {"client-key-data", "a string"},
                                      {"token", "a string"},
                                      {"tokenFile", "a string"},
                                      {"username", "a string"},
                                      {"password", "a string"},
                                      {"as", "a string"},
                                      {"as-uid", "a string"},
                                      {"as-groups", "a list"},
                                      {"as-user-extra", "an object"},
                                      {"auth-provider", "an object"},
                                      {"exec", "an object"}}) {
    EXPECT_EQ(ErrorOf(File("{server: 'https://api'}", std::string("{") + field + ": 5}")),
              user + field + ": must be " + wanted);
  }
  for (const auto& [field, wanted] : {std::pair("command", "a string"),
                                      {"args", "a list"},
                                      {"apiVersion", "a string"},
                                      {"installHint", "a string"},
                                      {"provideClusterInfo", "a boolean"},
                                      {"interactiveMode", "a string"},
                                      {"env", "a list"}}) {
    EXPECT_EQ(ErrorOf(File("{server: 'https://api'}", std::string("{exec: {") + field + ": 5}}")),
              user + "exec." + field + ": must be " + wanted);
  }
  for (const std::string field : {"cluster", "user", "namespace"}) {
    EXPECT_EQ(ErrorOf("contexts: [{name: c, context: {" + field + ": 5}}]\n"),
              "contexts[0].context." + field + ": must be a string");
  }
  for (const std::string field : {"kind", "apiVersion", "current-context"}) {
    EXPECT_EQ(ErrorOf(field + ": [5]\n"), field + ": must be a string");
  }
  for (const std::string list : {"clusters", "users", "contexts"}) {
    EXPECT_EQ(ErrorOf(list + ": 5\n"), list + ": must be a list");
    EXPECT_EQ(ErrorOf(list + ": [5]\n"), list + "[0]: must be an object");
    EXPECT_EQ(ErrorOf(list + ": [{name: 5}]\n"), list + "[0].name: must be a string");
  }
  EXPECT_EQ(ErrorOf("[]"), "a kubeconfig is an object");
  EXPECT_EQ(ErrorOf("kind: Pod\n"), "no kind \"Pod\" is registered for version \"v1\"");
}

TEST_F(KubeconfigTest, ExecIsCheckedAndOnlyUsedWithoutOtherCredentials) {
  const std::string exec =
      "{exec: {command: bin/get-token, apiVersion: client.authentication.k8s.io/v1, "
      "interactiveMode: Never, provideClusterInfo: true, args: [a], env: [{name: NAME, value: V}]}}";
  const auto config = Parse(File("{server: 'https://api', certificate-authority-data: Y2E=}", exec));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->exec->command, "/etc/k8s/bin/get-token");
  EXPECT_EQ(config->exec->cluster_json,
            R"({"server":"https://api","certificate-authority-data":"Y2E=","config":null})");
  EXPECT_EQ(ErrorOf(File("{server: 'https://api'}",
                         "{exec: {command: x, apiVersion: v9, interactiveMode: Never}}")),
            "exec plugin: invalid apiVersion \"v9\"");
  EXPECT_EQ(
      ErrorOf(File("{server: 'https://api'}",
                   "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}")),
      "invalid configuration: interactiveMode must be specified for u to use exec authentication plugin");
  EXPECT_FALSE(Parse(File("{server: 'https://api'}",
                          "{token: t, exec: {command: x, apiVersion: "
                          "client.authentication.k8s.io/v1, interactiveMode: Never}}"))
                   ->exec.has_value());
}

TEST_F(KubeconfigTest, InClusterNeedsItsEnvironmentAndToken) {
  EXPECT_EQ(
      InClusterConfig(Around()).error().message,
      "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be "
      "defined");
  EXPECT_EQ(
      LoadConnectionConfig("", "", Around()).error().message,
      "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment "
      "variable");
  environment_ = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  EXPECT_FALSE(InClusterConfig(Around()).has_value());
  files_["/var/run/secrets/kubernetes.io/serviceaccount/token"] = "t";
  const auto config = InClusterConfig(Around());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server.HostPort(), "[fd00::1]:443");
  EXPECT_TRUE(config->tls.authority.empty()) << "without a CA file: the system's roots";
}

TEST_F(KubeconfigTest, ProxyComesFromTheEnvironmentUnlessExempt) {
  environment_["HTTPS_PROXY"] = "proxy:3128";
  const auto proxy = [&](const std::string& host) {
    const auto found = ProxyFromEnvironment(*net::ParseUrl("https://" + host), Around());
    return found && *found ? (*found)->HostPort() : "none";
  };
  EXPECT_EQ(proxy("api.example.com"), "proxy:3128");
  EXPECT_EQ(proxy("localhost"), "none");
  EXPECT_EQ(proxy("127.0.0.9"), "none");
  environment_["NO_PROXY"] = "10.0.0.0/8, .example.com,exact.org,other.org:8443";
  EXPECT_EQ(proxy("10.96.0.1"), "none");
  EXPECT_EQ(proxy("11.96.0.1"), "proxy:3128");
  EXPECT_EQ(proxy("api.example.com"), "none");
  EXPECT_EQ(proxy("sub.exact.org"), "none");
  EXPECT_EQ(proxy("inexact.org"), "proxy:3128");
  EXPECT_EQ(proxy("other.org"), "proxy:3128");
  EXPECT_EQ(proxy("other.org:8443"), "none");
}

}  // namespace
}  // namespace berth::client
