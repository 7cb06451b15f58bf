#include "server/metric_flags.h"

#include <absl/strings/str_split.h>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <utility>

#include "base/go_text.h"
#include "wire/yaml.h"

namespace berth::server {
namespace {

namespace json = boost::json;

// Deprecated for so long that the release hides them: shown on request only.
constexpr std::string_view kHidden[] = {"scheduler_preemption_goroutines_duration_seconds"};

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t'\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t'\"") - first + 1);
}

base::Result<AllowedLabel> Allowed(std::string_view key, std::string_view values) {
  const std::size_t comma = key.find(',');
  AllowedLabel allowed;
  if (comma != std::string_view::npos) {
    allowed.metric = Trim(key.substr(0, comma));
    allowed.label = Trim(key.substr(comma + 1));
  }
  if (allowed.metric.empty() || allowed.label.empty()) {
    return base::Fail(
        "must have keys with format `metricName,labelName` where metricName matches "
        "\"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\"");
  }
  const std::string_view list = Trim(values);
  for (const absl::string_view value :
       absl::StrSplit(absl::string_view(list.data(), list.size()), ',', absl::SkipEmpty())) {
    allowed.values.emplace(value.data(), value.size());
  }
  return allowed;
}

}  // namespace

base::Result<std::vector<AllowedLabel>> ParseAllowedLabels(const std::vector<std::string>& texts) {
  std::vector<AllowedLabel> all;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t equals = rest.find('=');
      if (equals == std::string_view::npos) {
        return base::Fail(fmt::format("{} must be formatted as key=value", std::string(rest)));
      }
      const std::string_view key = rest.substr(0, equals);
      rest.remove_prefix(equals + 1);
      // Quoted values end at the quote, so that another metric may follow; others are the rest.
      std::string_view values = rest;
      if (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) {
        const std::size_t end = rest.find(rest.front(), 1);
        values = rest.substr(0, end == std::string_view::npos ? end : end + 1);
      }
      rest.remove_prefix(values.size());
      while (!rest.empty() && (rest.front() == ',' || rest.front() == ' ')) rest.remove_prefix(1);
      auto allowed = Allowed(key, values);
      if (!allowed) return std::unexpected(std::move(allowed.error()));
      all.push_back(*std::move(allowed));
    }
  }
  return all;
}

base::Result<std::vector<AllowedLabel>> ParseAllowedLabelsFile(std::string_view text) {
  const auto document = wire::YamlToJson(text, {.unique_keys = true});
  if (!document) return base::Fail("failed to parse allow list manifest: " + document.error().message);
  boost::system::error_code error;
  const json::value parsed = json::parse(*document, error);
  const json::object* const map = error ? nullptr : parsed.if_object();
  if (map == nullptr) return base::Fail("failed to parse allow list manifest: it is not a map");
  std::vector<AllowedLabel> all;
  for (const auto& [key, value] : *map) {
    if (!value.is_string()) {
      return base::Fail(fmt::format("failed to parse allow list manifest: the values of {} are not a string",
                                    base::QuoteGo(std::string(key))));
    }
    auto allowed = Allowed(std::string_view(key.data(), key.size()),
                           std::string_view(value.as_string().data(), value.as_string().size()));
    if (!allowed) return std::unexpected(std::move(allowed.error()));
    all.push_back(*std::move(allowed));
  }
  return all;
}

void ApplyWishes(base::MetricRegistry& registry, const MetricWishes& wishes) {
  if (!wishes.show_hidden) {
    for (const std::string_view name : kHidden) registry.Hide(name);
  }
  for (const std::string& name : wishes.disabled) registry.Hide(name);
  for (const AllowedLabel& allowed : wishes.allowed) {
    base::MetricFamilyBase* const family = registry.Find(allowed.metric);
    if (family != nullptr) family->AllowLabelValues(allowed.label, allowed.values);
  }
}

}  // namespace berth::server
