#include "config/tracing.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "base/go_text.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

namespace json = boost::json;

constexpr std::string_view kTracingGroup = "apiserver.config.k8s.io/";
constexpr std::string_view kVersions[] = {"v1", "v1beta1", "v1alpha1"};
constexpr std::int64_t kRateMax = 1'000'000;

std::string TextAt(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

base::Result<void> CheckKind(const json::object& object, std::string_view text) {
  const std::string kind = TextAt(object, "kind");
  if (kind.empty()) return base::Fail(fmt::format("Object 'Kind' is missing in '{}'", text));
  const std::string version = TextAt(object, "apiVersion");
  if (version.empty()) return base::Fail(fmt::format("Object 'apiVersion' is missing in '{}'", text));
  const bool known_version =
      version.starts_with(kTracingGroup) && std::ranges::any_of(kVersions, [&](auto one) {
        return std::string_view(version).substr(kTracingGroup.size()) == one;
      });
  if (kind != "TracingConfiguration" || !known_version) {
    return base::Fail(
        fmt::format("no kind {} is registered for version {}", base::QuoteGo(kind), base::QuoteGo(version)));
  }
  return {};
}

base::Result<void> CheckEndpoint(const std::string& endpoint) {
  const std::size_t scheme = endpoint.find("://");
  if (scheme == std::string::npos || endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
    return {};
  }
  return base::Fail(
      fmt::format("endpoint: Invalid value: {}: unsupported scheme: {}. Options are none, http, "
                  "or https",
                  base::QuoteGo(endpoint), endpoint.substr(0, scheme)));
}

}  // namespace

base::Result<Tracing> DecodeTracing(std::string_view text) {
  const auto document = wire::YamlToJson(text, {.unique_keys = true});
  if (!document) return std::unexpected(document.error());
  boost::system::error_code error;
  const json::value parsed = json::parse(*document, error);
  if (error) return base::Fail(error.message());
  const json::object empty;
  const json::object& object = parsed.is_object() ? parsed.as_object() : empty;
  if (auto checked = CheckKind(object, text); !checked) return std::unexpected(checked.error());
  Tracing tracing;
  std::vector<std::string> unknown;
  for (const auto& [name, value] : object) {
    const std::string_view key(name.data(), name.size());
    if (key == "kind" || key == "apiVersion" || value.is_null()) continue;
    if (key == "endpoint") {
      if (!value.is_string()) return base::Fail("endpoint: a string is needed");
      tracing.endpoint = std::string(value.as_string());
    } else if (key == "samplingRatePerMillion") {
      if (!value.is_int64()) return base::Fail("samplingRatePerMillion: a whole number is needed");
      const std::int64_t rate = value.as_int64();
      if (rate < 0 || rate > kRateMax) {
        return base::Fail(fmt::format("samplingRatePerMillion: Invalid value: {}: {}", rate,
                                      rate < 0
                                          ? "sampling rate must be positive"
                                          : "sampling rate per million must be less than or equal to one "
                                            "million"));
      }
      tracing.sampling_rate_per_million = static_cast<std::uint32_t>(rate);
    } else {
      unknown.push_back(fmt::format("unknown field {}", base::QuoteGo(std::string(key))));
    }
  }
  if (!unknown.empty()) {
    return base::Fail(fmt::format("strict decoding error: {}", fmt::join(unknown, ", ")));
  }
  if (auto checked = CheckEndpoint(tracing.endpoint); !checked) return std::unexpected(checked.error());
  return tracing;
}

}  // namespace berth::config
