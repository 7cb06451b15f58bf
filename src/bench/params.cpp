#include "bench/params.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/go_duration.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// Beyond this a count is a typing error, and the conversion would be undefined.
constexpr double kCountMax = 1e15;

void ToFloats(json::value& value) {
  if (value.is_number()) {
    value = value.to_number<double>();
  } else if (value.is_array()) {
    for (json::value& one : value.as_array()) ToFloats(one);
  } else if (value.is_object()) {
    for (auto& member : value.as_object()) ToFloats(member.value());
  }
}

// What Go calls the type.
std::string_view TypeName(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_number()) return "float64";
  if (value.is_array()) return "[]interface {}";
  if (value.is_object()) return "map[string]interface {}";
  return "<nil>";
}

base::Result<json::value> ReadDefault(std::string_view name, std::string_view text) {
  auto document = wire::YamlToJson(text);
  auto value = document ? wire::ParseJson(*document) : std::unexpected(document.error());
  if (!value) {
    return base::Fail(fmt::format("decoding parameter \"{}\" default \"{}\" as YAML: {}", name, text,
                                  value.error().message));
  }
  ToFloats(*value);
  return value;
}

}  // namespace

Params::Params(json::object values) : values_(std::move(values)) {
  for (auto& member : values_) ToFloats(member.value());
}

const json::value* Params::Find(std::string_view name) {
  const json::value* const found = values_.if_contains(name);
  if (found != nullptr) used_.emplace(name);
  return found;
}

template <class Convert>
auto Params::Get(std::string_view name, Convert convert) -> base::Result<decltype(convert(json::value()))> {
  const json::value* const value = Find(name);
  if (value == nullptr) return base::Fail(fmt::format("parameter {} is undefined", name));
  auto converted = convert(*value);
  if (!converted) {
    return base::Fail(fmt::format("parameter {} has the wrong type {}", name, TypeName(*value)));
  }
  return converted;
}

base::Result<std::int64_t> Params::Integer(std::string_view name) {
  const auto number = Get(name, [](const json::value& value) {
    return value.is_double() ? std::optional(value.as_double()) : std::nullopt;
  });
  if (!number) return std::unexpected(number.error());
  if (!(std::abs(**number) <= kCountMax)) return base::Fail(fmt::format("parameter {} is too large", name));
  return static_cast<std::int64_t>(**number);
}

base::Result<bool> Params::Flag(std::string_view name) {
  const auto flag = Get(name, [](const json::value& value) {
    return value.is_bool() ? std::optional(value.as_bool()) : std::nullopt;
  });
  if (!flag) return std::unexpected(flag.error());
  return **flag;
}

base::Result<base::Duration> Params::Duration(std::string_view name) {
  const auto text = Get(name, [](const json::value& value) {
    return value.is_string() ? std::optional(std::string(value.as_string())) : std::nullopt;
  });
  if (!text) return std::unexpected(text.error());
  const auto duration = base::ParseGoDuration(**text);
  if (!duration) {
    return base::Fail(fmt::format("parsing duration parameter {}: {}", name, duration.error().message));
  }
  return *duration;
}

base::Result<json::value> Params::Resolve(const json::value& value) {
  if (!value.is_string() || !value.as_string().starts_with('$')) return value;
  const std::string_view text = std::string_view(value.as_string()).substr(1);
  const std::size_t bar = text.find('|', 1);
  const std::string_view name = text.substr(0, bar);
  if (const json::value* const found = Find(name)) return *found;
  if (bar == std::string_view::npos) return base::Fail(fmt::format("parameter \"{}\" not found", name));
  return ReadDefault(name, text.substr(bar + 1));
}

base::Result<json::object> Params::ResolveAll(const json::object& template_params) {
  json::object resolved;
  for (const auto& [key, value] : template_params) {
    auto one = Resolve(value);
    if (!one) return std::unexpected(std::move(one.error()));
    resolved[key] = *std::move(one);
  }
  return resolved;
}

std::vector<std::string> Params::Unused() const {
  std::vector<std::string> unused;
  for (const auto& member : values_) {
    if (!used_.contains(std::string_view(member.key()))) unused.emplace_back(member.key());
  }
  std::ranges::sort(unused);
  return unused;
}

}  // namespace berth::bench
