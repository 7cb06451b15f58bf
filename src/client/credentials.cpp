#include "client/credentials.h"

#include <absl/strings/escaping.h>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "net/url.h"

namespace berth::client {
namespace {

constexpr auto kTokenAge = std::chrono::seconds(50);
constexpr auto kRefusedTokenAge = std::chrono::seconds(1);

std::string Trim(const std::string& text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

void AddImpersonation(const Impersonation& as, net::Headers& headers) {
  if (as.user.empty()) return;
  headers.Add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.Add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.Add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    // Header names know no case and few characters, so whatever is not a letter or digit travels escaped.
    for (const std::string& value : values)
      headers.Add("Impersonate-Extra-" + net::EncodePathSegment(key), value);
  }
}

}  // namespace

TokenSource::TokenSource(const base::Clock& clock, const Surroundings& surroundings, std::string token,
                         std::string file)
    : clock_(clock), surroundings_(surroundings), token_(Trim(token)), file_(std::move(file)) {}

const std::string& TokenSource::Get() {
  const base::TimePoint now = clock_.Now();
  if (file_.empty() || (read_at_ && now - *read_at_ < kTokenAge)) return token_;
  read_at_ = now;
  const auto text = surroundings_.read_file(file_);
  if (!text) {
    BERTH_LOG_ERROR(text.error(), "Unable to rotate token", {"path", file_});
    return token_;
  }
  if (std::string token = Trim(*text); !token.empty()) token_ = std::move(token);
  return token_;
}

void TokenSource::OnRefused() {
  if (read_at_ && clock_.Now() - *read_at_ >= kRefusedTokenAge) read_at_.reset();
}

UserCredentials::UserCredentials(base::Executor& executor, const ConnectionConfig& config,
                                 const Surroundings& surroundings, ProcessRunner* processes,
                                 CertificateCallback on_certificate)
    : config_(config), token_(executor.clock(), surroundings, config.token, config.token_file) {
  if (!config.exec) return;
  BERTH_CHECK(processes != nullptr);
  exec_.emplace(executor, *config.exec, *processes, std::move(on_certificate));
}

bool UserCredentials::ApplyNow(net::Headers& headers) {
  const std::string& token = token_.Get();
  const bool has_password = !config_.username.empty() || !config_.password.empty();
  if (token.empty() && !has_password && exec_) return false;
  AddImpersonation(config_.impersonation, headers);
  if (!token.empty()) {
    headers.Add("Authorization", "Bearer " + token);
  } else if (has_password) {
    headers.Add("Authorization", "Basic " + absl::Base64Escape(config_.username + ":" + config_.password));
  }
  return true;
}

base::Task<base::Result<void>> UserCredentials::Apply(net::Headers& headers) {
  if (ApplyNow(headers)) co_return base::Result<void>();
  const auto from_command = co_await exec_->Token();
  if (!from_command) co_return std::unexpected(from_command.error());
  AddImpersonation(config_.impersonation, headers);
  if (!from_command->empty()) headers.Add("Authorization", "Bearer " + *from_command);
  co_return base::Result<void>();
}

void UserCredentials::OnUnauthorized() {
  token_.OnRefused();
  if (exec_) exec_->Forget();
}

}  // namespace berth::client
