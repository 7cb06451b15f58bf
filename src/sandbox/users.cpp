#include "sandbox/users.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "sandbox/text_parts.h"

namespace berth::sandbox {
namespace {

// The columns of a line, as Go's encoding/csv reads them but for line breaks within quotes. Nothing if a
// quote has no end.
std::optional<std::vector<std::string>> CsvColumns(std::string_view line) {
  std::vector<std::string> columns(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      columns.back() += line[++i];
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      columns.emplace_back();
    } else {
      columns.back() += line[i];
    }
  }
  if (is_quoted) return std::nullopt;
  return columns;
}

}  // namespace

const User& Administrator() {
  static const User kAdministrator{.name = "sandbox-admin", .groups = {"system:masters"}};
  return kAdministrator;
}

void Users::Add(std::string token, User user) {
  const auto it = std::ranges::find(known_, token, &Known::token);
  if (it != known_.end()) {
    it->user = std::move(user);
  } else {
    known_.push_back({std::move(token), std::move(user)});
  }
}

base::Result<void> Users::AddFile(std::string_view csv) {
  for (std::size_t number = 1; !csv.empty(); ++number) {
    const std::size_t end = csv.find('\n');
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::optional<std::vector<std::string>> columns = CsvColumns(line);
    if (!columns) return base::Fail(fmt::format("line {}: a quote has no end", number));
    if (columns->size() < 3 || (*columns)[0].empty()) {
      return base::Fail(
          fmt::format("line {}: want at least three columns (token, user name, user uid)", number));
    }
    User user{.name = (*columns)[1], .uid = (*columns)[2]};
    if (columns->size() > 3) {
      for (const std::string_view group : SplitText((*columns)[3], ',')) user.groups.emplace_back(group);
    }
    Add((*columns)[0], std::move(user));
  }
  return {};
}

const User* Users::Find(std::string_view token) const {
  const auto it = std::ranges::find(known_, token, &Known::token);
  return it != known_.end() ? &it->user : nullptr;
}

const User* Users::Of(const net::Request& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string* given = request.headers.Find("Authorization");
  if (given == nullptr || !given->starts_with(kBearer)) return nullptr;
  return Find(std::string_view(*given).substr(kBearer.size()));
}

}  // namespace berth::sandbox
