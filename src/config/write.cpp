#include "config/write.h"

#include <boost/json.hpp>
#include <type_traits>
#include <variant>

#include "config/configuration_fields.h"
#include "config/encoder.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

namespace json = boost::json;

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
