#include "config/write.h"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/string_map.h"
#include "base/clock.h"
#include "base/go_duration.h"
#include "config/base64.h"
#include "config/configuration_fields.h"
#include "config/fields.h"
#include "config/json_tree.h"
#include "config/values.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

namespace json = boost::json;

// Described structs as JSON, the inverse of Decoder.
json::value Encode(bool value) { return value; }
json::value Encode(std::int32_t value) { return std::int64_t{value}; }
json::value Encode(std::int64_t value) { return value; }
json::value Encode(const std::string& value) { return json::string(value); }
json::value Encode(base::Duration value) { return json::string(base::FormatGoDuration(value)); }
json::value Encode(const Base64Bytes& value) { return json::string(EncodeBase64(value.bytes)); }
json::value Encode(const RawValue& value) { return value.node ? ToJson(*value.node) : json::value(); }
// With the digits that a float has: 0.1 and not 0.10000000149.
json::value Encode(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  double shortest = 0;
  std::from_chars(digits, end.ptr, shortest);
  constexpr double kIntegersMax = 1e15;
  if (std::floor(shortest) == shortest && std::fabs(shortest) < kIntegersMax) {
    return static_cast<std::int64_t>(shortest);
  }
  return shortest;
}
json::value Encode(const api::StringMap& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

template <Described T>
json::value Encode(const T& value);
template <class T>
json::value Encode(const std::optional<T>& value);

template <class T>
json::value Encode(const std::vector<T>& list) {
  json::array array;
  for (const T& element : list) array.push_back(Encode(element));
  return array;
}

template <class T>
json::value Encode(const std::optional<T>& value) {
  return value ? Encode(*value) : json::value();
}

// Go's omitempty: false, 0, no text, no elements, no pointer; a struct is never empty.
template <class T>
bool IsEmpty(const T& value) {
  if constexpr (Described<T>) {
    return false;
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return value == T{};
  }
}

template <Described T>
json::value Encode(const T& value) {
  json::object object;
  ForEachField<T>([&](const auto& field) {
    const auto& member = std::invoke(field.access, value);
    if (field.when_empty == Emptiness::kLeftOut && IsEmpty(member)) return;
    object[field.name] = Encode(member);
  });
  return object;
}

json::value ArgumentsDocument(const PluginConfig& config) {
  return std::visit(
      [&](const auto& typed) -> json::value {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(typed)>, RawValue>) {
          return Encode(typed);
        } else {
          json::object object = Encode(typed).as_object();
          object["apiVersion"] = kApiVersion;
          object["kind"] = config.name + "Args";
          return object;
        }
      },
      config.typed);
}

json::object ProfileDocument(const Profile& profile) {
  json::object object;
  ForEachField<Profile>([&](const auto& field) {
    const auto& member = std::invoke(field.access, profile);
    if (field.when_empty == Emptiness::kLeftOut && IsEmpty(member)) return;
    if (field.name != "pluginConfig") object[field.name] = Encode(member);
  });
  json::array configs;
  for (const PluginConfig& config : profile.plugin_config) {
    json::object entry{{"name", config.name}};
    if (json::value arguments = ArgumentsDocument(config); !arguments.is_null()) {
      entry["args"] = std::move(arguments);
    }
    configs.push_back(std::move(entry));
  }
  if (!configs.empty()) object["pluginConfig"] = std::move(configs);
  return object;
}

}  // namespace

json::object ToDocument(const Configuration& configuration) {
  json::object object{{"apiVersion", kApiVersion}, {"kind", kKind}};
  const json::value encoded = Encode(configuration);
  for (const auto& member : encoded.as_object()) object[member.key()] = member.value();
  json::array profiles;
  for (const Profile& profile : configuration.profiles) profiles.push_back(ProfileDocument(profile));
  object["profiles"] = std::move(profiles);
  return object;
}

std::string WriteYaml(const Configuration& configuration) {
  return wire::WriteYaml(ToDocument(configuration));
}

}  // namespace berth::config
