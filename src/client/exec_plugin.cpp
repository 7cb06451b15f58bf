#include "client/exec_plugin.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "fmt/format.h"

#include "api/time.h"
#include "wire/json_document.h"

namespace berth::client {
namespace {

namespace json = boost::json;

std::string Text(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace

base::Result<ExecCredential> ParseExecCredential(std::string_view text, std::string_view api_version) {
  auto document = wire::ParseJson(text);
  if (!document) return base::Fail("decoding stdout: " + document.error().message);
  const json::object* object = document->if_object();
  if (object == nullptr || Text(*object, "kind") != "ExecCredential") {
    return base::Fail("decoding stdout: no ExecCredential");
  }
  if (const std::string version = Text(*object, "apiVersion"); version != api_version) {
    return base::Fail(fmt::format(
        "exec plugin is configured to use API version {}, plugin returned version {}", api_version, version));
  }
  const json::value* status_value = object->if_contains("status");
  const json::object* status = status_value == nullptr ? nullptr : status_value->if_object();
  if (status == nullptr) return base::Fail("exec plugin didn't return a status field");
  ExecCredential credential;
  credential.token = Text(*status, "token");
  net::KeyPair pair{.certificate_pem = Text(*status, "clientCertificateData"),
                    .key_pem = Text(*status, "clientKeyData")};
  if (credential.token.empty() && pair.certificate_pem.empty() && pair.key_pem.empty()) {
    return base::Fail("exec plugin didn't return a token or cert/key pair");
  }
  if (pair.certificate_pem.empty() != pair.key_pem.empty()) {
    return base::Fail("exec plugin returned only certificate or key, not both");
  }
  if (!pair.key_pem.empty()) credential.certificate = std::move(pair);
  if (const std::string expires = Text(*status, "expirationTimestamp"); !expires.empty()) {
    const auto time = api::ParseTime(expires);
    if (!time) return base::Fail("decoding stdout: " + time.error().message);
    credential.expires = base::WallPoint(std::chrono::seconds(time->unix_seconds));
  }
  return credential;
}

ExecPlugin::ExecPlugin(base::Executor& executor, ExecConfig config, ProcessRunner& processes,
                       std::function<void(const net::KeyPair&)> on_certificate)
    : executor_(executor),
      config_(std::move(config)),
      processes_(processes),
      on_certificate_(std::move(on_certificate)),
      finished_(executor) {}

bool ExecPlugin::IsFresh() const {
  return credential_ && (!credential_->expires || executor_.clock().WallNow() < *credential_->expires);
}

base::Task<base::Result<std::string>> ExecPlugin::Token() {
  while (running_) co_await finished_.WaitFor();
  if (!IsFresh()) {
    running_ = true;
    finished_.Reset();
    auto refreshed = co_await Refresh();
    running_ = false;
    finished_.Set();
    if (!refreshed) co_return base::Fail("getting credentials: " + refreshed.error().message);
  }
  co_return credential_->token;
}

base::Task<base::Result<void>> ExecPlugin::Refresh() {
  Command command{
      .program = config_.command, .arguments = config_.arguments, .environment = config_.environment};
  std::string info = fmt::format(
      R"({{"kind":"ExecCredential","apiVersion":"{}","spec":{{"interactive":false)", config_.api_version);
  if (!config_.cluster_json.empty()) info += ",\"cluster\":" + config_.cluster_json;
  command.environment.emplace_back("KUBERNETES_EXEC_INFO", info + "}}");
  const CommandOutcome outcome = co_await processes_.Run(std::move(command));
  auto credential = Judge(outcome);
  if (!credential) co_return std::unexpected(std::move(credential.error()));
  credential_ = std::move(*credential);
  const auto same = [](const net::KeyPair& a, const net::KeyPair& b) {
    return a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem;
  };
  if (credential_->certificate &&
      (!certificate_in_use_ || !same(*certificate_in_use_, *credential_->certificate))) {
    certificate_in_use_ = credential_->certificate;
    if (on_certificate_) on_certificate_(*certificate_in_use_);
  }
  co_return base::Result<void>();
}

base::Result<ExecCredential> ExecPlugin::Judge(const CommandOutcome& outcome) const {
  switch (outcome.end) {
    case CommandOutcome::End::kNotFound: {
      std::string message = fmt::format("exec: executable {} not found", config_.command);
      if (!config_.install_hint.empty()) message += "\n\n" + config_.install_hint;
      return base::Fail(std::move(message));
    }
    case CommandOutcome::End::kTimedOut:
      return base::Fail(fmt::format("exec: executable {} did not end in time", config_.command));
    case CommandOutcome::End::kFailed:
      return base::Fail("exec: " + outcome.output);
    case CommandOutcome::End::kExited:
      break;
  }
  if (outcome.exit_code != 0) {
    return base::Fail(
        fmt::format("exec: executable {} failed with exit code {}", config_.command, outcome.exit_code));
  }
  return ParseExecCredential(outcome.output, config_.api_version);
}

}  // namespace berth::client
