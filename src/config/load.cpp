#include "config/load.h"

#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/arguments.h"
#include "config/configuration_fields.h"
#include "config/decoder.h"
#include "config/defaults.h"
#include "config/json_tree.h"
#include "config/object_kind.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
constexpr std::string_view kVersion = "v1";
constexpr std::string_view kStrictPrefix = "strict decoding error: ";

std::string Joined(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += ", ";
    text += problem.message;
  }
  return text;
}

bool IsJson(std::string_view text) {
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) return c == '{';
  }
  return false;
}

struct Document {
  JsonNode root;
  Problems repeated;  // keys of YAML; those of JSON are found while decoding
};

base::Result<Document> ReadDocument(std::string_view text) {
  Document document;
  if (IsJson(text)) {
    auto root = ParseJsonTree(text);
    if (!root) return base::Fail("couldn't get version/kind; json parse error: " + root.error().message);
    document.root = *std::move(root);
    return document;
  }
  const auto json = wire::YamlToJson(text);
  if (!json) return std::unexpected(json.error());
  if (const auto unique = wire::YamlToJson(text, {.unique_keys = true}); !unique) {
    document.repeated.push_back({"", unique.error().message});
  }
  auto root = ParseJsonTree(*json);
  if (!root) return std::unexpected(root.error());
  document.root = *std::move(root);
  return document;
}

std::optional<std::string> CheckKind(const ObjectKind& kind, std::string_view text) {
  if (kind.kind.empty()) return fmt::format("Object 'Kind' is missing in '{}'", text);
  if (kind.version.empty()) return fmt::format("Object 'apiVersion' is missing in '{}'", text);
  const bool known = kind.group == kGroup && kind.version == kVersion &&
                     (kind.kind == kKind || !PluginOfArgumentsKind(kind.kind).empty());
  if (!known) return NotRegistered(kind);
  return std::nullopt;
}

void DecodeArguments(const JsonNode& node, PluginArguments& arguments, Decoder& decoder) {
  std::visit(
      [&](auto& typed) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(typed)>, RawValue>) {
          decoder.Decode(node, typed);
        }
      },
      arguments);
}

struct ArgumentsProblem {
  std::string message;
  bool strict = false;  // an unknown or repeated field, and nothing worse
  Problems inside;      // paths below the arguments
};

// The arguments as their kind. Errors without the words about their place in the file.
std::optional<ArgumentsProblem> DecodePluginConfig(PluginConfig& config) {
  auto empty = EmptyArguments(config.name);
  if (!empty) {
    config.typed = config.args;
    return std::nullopt;
  }
  config.typed = *std::move(empty);
  if (!config.args.node) return std::nullopt;
  const JsonNode& node = *config.args.node;
  const auto decoding = [&](std::string_view detail) {
    return fmt::format("decoding args for plugin {}: {}", config.name, detail);
  };
  auto kind = ReadObjectKind(node);
  if (!kind) return ArgumentsProblem{decoding(kind.error().message), false, {{"", kind.error().message}}};
  const std::string wanted = config.name + "Args";
  if (kind->kind.empty()) kind->kind = wanted;
  if (kind->version.empty() && (kind->group.empty() || kind->group == kGroup)) {
    kind->group = kGroup;
    kind->version = kVersion;
  }
  if (const auto wrong = CheckKind(*kind, ToJsonText(node))) {
    return ArgumentsProblem{decoding(*wrong), false, {{"", *wrong}}};
  }
  Decoder decoder;
  if (kind->kind == wanted) {
    DecodeArguments(node, config.typed, decoder);
  } else if (kind->kind == kKind) {
    Configuration other;
    decoder.Decode(node, other);
  } else {
    PluginArguments other = *EmptyArguments(PluginOfArgumentsKind(kind->kind));
    DecodeArguments(node, other, decoder);
  }
  if (decoder.error())
    return ArgumentsProblem{decoding(decoder.error()->message), false, decoder.all_errors()};
  if (kind->kind != wanted) {
    const std::string message = fmt::format("args for plugin {} were not of type {}.{}, got {}.{}",
                                            config.name, wanted, kGroup, kind->kind, kGroup);
    return ArgumentsProblem{message, false, {{"", message}}};
  }
  if (decoder.strict_errors().empty()) return std::nullopt;
  const std::string text = std::string(kStrictPrefix) + Joined(decoder.strict_errors());
  return ArgumentsProblem{std::string(kStrictPrefix) + decoding(text), true, decoder.strict_errors()};
}

// All arguments of the file. `strict` gets the messages of strict errors, as kube-scheduler words them.
void DecodeAllArguments(Decoded& decoded, std::vector<std::string>& strict) {
  std::vector<Profile>& profiles = decoded.configuration.profiles;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (std::size_t j = 0; j < profiles[i].plugin_config.size(); ++j) {
      const auto problem = DecodePluginConfig(profiles[i].plugin_config[j]);
      if (!problem) continue;
      std::string message =
          fmt::format("decoding .profiles[{}].pluginConfig[{}]: {}", i, j, problem->message);
      const std::string path = fmt::format("profiles[{}].pluginConfig[{}].args", i, j);
      for (const Problem& inside : problem->inside) {
        decoded.problems.push_back({inside.path.empty() ? path : path + "." + inside.path, inside.message});
      }
      if (problem->strict) {
        strict.push_back(std::move(message));
      } else if (decoded.error.empty()) {
        decoded.error = std::move(message);
      }
    }
  }
}

Decoded Undecodable(std::string error, std::string path = {}) {
  Decoded decoded;
  decoded.problems.push_back({std::move(path), error});
  decoded.error = std::move(error);
  return decoded;
}

}  // namespace

Decoded DecodeAll(std::string_view text) {
  auto document = ReadDocument(text);
  if (!document) return Undecodable(std::move(document.error().message));
  const auto kind = ReadObjectKind(document->root);
  if (!kind) return Undecodable(kind.error().message);
  if (auto wrong = CheckKind(*kind, text)) {
    const bool is_unknown = !kind->kind.empty() && !kind->version.empty();
    return Undecodable(*std::move(wrong), is_unknown ? "apiVersion" : "");
  }

  const Problems& repeated = document->repeated;
  Decoded decoded;
  decoded.is_configuration = kind->kind == kKind;
  Decoder decoder;
  if (decoded.is_configuration) {
    decoder.Decode(document->root, decoded.configuration);
  } else {
    PluginArguments other = *EmptyArguments(PluginOfArgumentsKind(kind->kind));
    DecodeArguments(document->root, other, decoder);
  }
  if (decoder.error()) decoded.error = decoder.error()->message;
  for (const Problems* list : {&repeated, &decoder.all_errors(), &decoder.strict_errors()}) {
    decoded.problems.insert(decoded.problems.end(), list->begin(), list->end());
  }
  std::vector<std::string> strict;
  for (const Problems* list : {&repeated, &decoder.strict_errors()}) {
    for (const Problem& problem : *list) strict.push_back(problem.message);
  }
  DecodeAllArguments(decoded, strict);
  if (decoded.error.empty() && !strict.empty()) {
    decoded.error = fmt::format("{}{}", kStrictPrefix, fmt::join(strict, ", "));
  }
  if (decoded.error.empty() && !decoded.is_configuration) {
    decoded.error =
        fmt::format("couldn't decode as {}, got {}, Kind={}: ", kKind, kind->ApiVersion(), kind->kind);
    decoded.problems.push_back({"kind", decoded.error});
  }
  return decoded;
}

std::expected<Configuration, Failure> Decode(std::string_view text) {
  Decoded decoded = DecodeAll(text);
  if (!decoded.error.empty()) {
    return std::unexpected(Failure{std::move(decoded.error), std::move(decoded.problems)});
  }
  return std::move(decoded.configuration);
}

std::expected<Configuration, Failure> Load(std::string_view text, const framework::Features& features) {
  auto configuration = Decode(text);
  if (configuration) ApplyDefaults(*configuration, features);
  return configuration;
}

}  // namespace berth::config
