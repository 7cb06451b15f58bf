#include "client/credentials.h"

#include <deque>
#include <string>

#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;

class ScriptedProcesses final : public ProcessRunner {
 public:
  base::Task<CommandOutcome> Run(Command command) override {
    commands.push_back(std::move(command));
    if (outcomes.empty()) co_return CommandOutcome{};
    CommandOutcome outcome = std::move(outcomes.front());
    outcomes.pop_front();
    co_return outcome;
  }
  void Print(std::string text) {
    outcomes.push_back({.end = CommandOutcome::End::kExited, .exit_code = 0, .output = std::move(text)});
  }

  std::deque<CommandOutcome> outcomes;
  std::vector<Command> commands;
};

class CredentialsTest : public ClientTest {
 protected:
  std::string Authorization(Credentials& credentials) {
    auto headers = std::make_shared<net::Headers>();
    kept_.push_back(headers);
    const auto applied = Start(credentials.Apply(*headers));
    if (!applied->has_value()) return "waiting";
    if (!**applied) return "error: " + (*applied)->error().message;
    const std::string* value = headers->Find("Authorization");
    return value == nullptr ? "" : *value;
  }
  UserCredentials& WithExec() {
    config_.exec = ExecConfig{.command = "get-token", .api_version = "client.authentication.k8s.io/v1"};
    return Make<UserCredentials>(executor_, config_, around_, &processes_, [this](const net::KeyPair& pair) {
      certificates_.push_back(pair.certificate_pem);
    });
  }
  static std::string Credential(const std::string& status) {
    return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" + status +
           "}";
  }

  ConnectionConfig config_;
  base::Result<std::string> token_file_ = std::string("first\n");
  int reads_ = 0;
  Surroundings around_{.environment = [](const std::string&) { return std::nullopt; },
                       .read_file =
                           [this](const std::string&) {
                             ++reads_;
                             return token_file_;
                           }};
  ScriptedProcesses processes_;
  std::vector<std::string> certificates_;
};

// Who rotates a token early should not have to wait; who sends many requests should not read a file for each.
TEST_F(CredentialsTest, RefusedTokenIsReadAgainAtMostOnceASecond) {
  config_.token_file = "/token";
  auto& credentials = Make<UserCredentials>(executor_, config_, around_, nullptr);
  EXPECT_EQ(Authorization(credentials), "Bearer first");
  token_file_ = "second";
  credentials.OnUnauthorized();
  EXPECT_EQ(Authorization(credentials), "Bearer first");
  EXPECT_EQ(reads_, 1);
  Advance(1s);
  credentials.OnUnauthorized();
  EXPECT_EQ(Authorization(credentials), "Bearer second");
  EXPECT_EQ(reads_, 2);
}

// Case 41.
TEST_F(CredentialsTest, Case41RotatedTokenIsUsedWithinFiftySecondsAndAnEmptyFileChangesNothing) {
  config_.token_file = "/token";
  auto& credentials = Make<UserCredentials>(executor_, config_, around_, nullptr);
  EXPECT_EQ(Authorization(credentials), "Bearer first");
  token_file_ = "second";
  Advance(49s);
  EXPECT_EQ(Authorization(credentials), "Bearer first");
  EXPECT_EQ(reads_, 1);
  Advance(1s);
  EXPECT_EQ(Authorization(credentials), "Bearer second");
  token_file_ = " \n";
  Advance(50s);
  EXPECT_EQ(Authorization(credentials), "Bearer second");
  token_file_ = base::Fail("gone");
  Advance(50s);
  EXPECT_EQ(Authorization(credentials), "Bearer second");
}

TEST_F(CredentialsTest, FileWinsOverTokenOnceReadable) {
  config_.token = "fixed";
  config_.token_file = "/token";
  token_file_ = base::Fail("not yet");
  auto& credentials = Make<UserCredentials>(executor_, config_, around_, nullptr);
  EXPECT_EQ(Authorization(credentials), "Bearer fixed");
  token_file_ = "from file";
  Advance(50s);
  EXPECT_EQ(Authorization(credentials), "Bearer from file");
}

TEST_F(CredentialsTest, BasicAndImpersonation) {
  config_.username = "u";
  config_.password = "p";
  config_.impersonation = {.user = "bob", .uid = "7", .groups = {"a", "b"}, .extra = {{"k/x", {"v"}}}};
  auto& credentials = Make<UserCredentials>(executor_, config_, around_, nullptr);
  net::Headers headers;
  Start(credentials.Apply(headers));
  EXPECT_EQ(*headers.Find("Authorization"), "Basic dTpw");
  EXPECT_EQ(*headers.Find("Impersonate-User"), "bob");
  EXPECT_EQ(*headers.Find("Impersonate-Uid"), "7");
  EXPECT_EQ(*headers.Find("Impersonate-Extra-k%2Fx"), "v");
}

TEST_F(CredentialsTest, ExecIsRunOnceUntilItExpiresOrIsRefused) {
  auto& credentials = WithExec();
  processes_.Print(Credential(R"({"token":"t1","expirationTimestamp":"2026-05-28T20:36:40Z"})"));
  EXPECT_EQ(Authorization(credentials), "Bearer t1");
  EXPECT_EQ(Authorization(credentials), "Bearer t1");
  ASSERT_EQ(processes_.commands.size(), 1U);
  EXPECT_EQ(
      processes_.commands[0].environment.back().second,
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
  Advance(10min);
  processes_.Print(Credential(R"({"token":"t2"})"));
  EXPECT_EQ(Authorization(credentials), "Bearer t2");
  Advance(24h);
  EXPECT_EQ(Authorization(credentials), "Bearer t2");
  credentials.OnUnauthorized();
  processes_.Print(Credential(R"({"token":"t3"})"));
  EXPECT_EQ(Authorization(credentials), "Bearer t3");
}

TEST_F(CredentialsTest, ExecMayHandOutACertificate) {
  auto& credentials = WithExec();
  processes_.Print(Credential(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})"));
  EXPECT_EQ(Authorization(credentials), "");
  EXPECT_THAT(certificates_, testing::ElementsAre("CERT"));
  credentials.OnUnauthorized();
  processes_.Print(Credential(R"({"clientCertificateData":"CERT","clientKeyData":"KEY"})"));
  Authorization(credentials);
  EXPECT_EQ(certificates_.size(), 1U) << "the same one is no news";
}

// Case 42, last part.
TEST_F(CredentialsTest, Case42ExecErrorsAreTold) {
  const auto error = [&](const std::string& status) {
    auto& credentials = WithExec();
    processes_.Print(status);
    return Authorization(credentials);
  };
  const std::string prefix = "error: getting credentials: ";
  EXPECT_EQ(error(Credential(R"({"clientCertificateData":"C"})")),
            prefix + "exec plugin returned only certificate or key, not both");
  EXPECT_EQ(error(Credential("{}")), prefix + "exec plugin didn't return a token or cert/key pair");
  EXPECT_EQ(error(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})"),
            prefix + "exec plugin didn't return a status field");
  auto& missing = WithExec();
  processes_.outcomes.push_back({.end = CommandOutcome::End::kNotFound, .exit_code = 0, .output = ""});
  EXPECT_EQ(Authorization(missing), prefix + "exec: executable get-token not found");
  auto& failed = WithExec();
  processes_.outcomes.push_back({.end = CommandOutcome::End::kExited, .exit_code = 3, .output = ""});
  EXPECT_EQ(Authorization(failed), prefix + "exec: executable get-token failed with exit code 3");
  auto& hanging = WithExec();
  processes_.outcomes.push_back({.end = CommandOutcome::End::kTimedOut, .exit_code = 0, .output = ""});
  EXPECT_EQ(Authorization(hanging), prefix + "exec: executable get-token did not end in time");
  EXPECT_THAT(error("no JSON"), testing::StartsWith(prefix));
}

}  // namespace
}  // namespace berth::client
