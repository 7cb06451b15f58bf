#include "config/check.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "config/defaults.h"
#include "config/load.h"
#include "config/validation.h"
#include "config/write.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

namespace json = boost::json;
using Lines = std::map<std::string, std::size_t, std::less<>>;

// Of the value or, if the file does not have it, of what would hold it; 0 if the file has nothing of it.
std::size_t LineOf(const Lines& lines, std::string_view path) {
  while (!path.empty()) {
    if (const auto found = lines.find(path); found != lines.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    path = cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
  }
  return 0;
}

// Leaves of a document by path.
void Flatten(const json::value& value, const std::string& path, std::map<std::string, std::string>& leaves) {
  if (const json::object* const object = value.if_object(); object != nullptr && !object->empty()) {
    for (const auto& member : *object) {
      const std::string key(member.key());
      Flatten(member.value(), path.empty() ? key : path + "." + key, leaves);
    }
  } else if (const json::array* const array = value.if_array(); array != nullptr && !array->empty()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      Flatten((*array)[i], fmt::format("{}[{}]", path, i), leaves);
  } else {
    leaves.emplace(path, wire::WriteJson(value, wire::JsonEscapes::kPlain));
  }
}

std::string PluginList(const std::vector<PluginEntry>& plugins) {
  std::string text;
  for (const PluginEntry& entry : plugins) {
    if (!text.empty()) text += ", ";
    text += entry.name;
    if (entry.weight != 0) text += fmt::format(" {}", entry.weight);
  }
  return text;
}

// Settings and plugin lists by name, so that two of them can be compared.
std::map<std::string, std::string> Facts(const Compiled& compiled) {
  json::object document = ToDocument(compiled.configuration);
  std::map<std::string, std::string> facts;
  json::array profiles = document["profiles"].as_array();
  document.erase("profiles");
  Flatten(document, "", facts);
  for (std::size_t i = 0; i < compiled.profiles.size(); ++i) {
    const CompiledProfile& profile = compiled.profiles[i];
    const std::string path = fmt::format("profiles[{}]", profile.scheduler_name);
    for (const Point point : kExpansionOrder) {
      facts.emplace(fmt::format("{}.{}", path, kPointNames[Index(point)]), PluginList(profile.at(point)));
    }
    json::object& written = profiles[i].as_object();
    if (const json::value* const configs = written.if_contains("pluginConfig")) {
      for (const json::value& config : configs->as_array()) {
        const std::string name(config.at("name").as_string());
        if (const json::value* const args = config.as_object().if_contains("args")) {
          Flatten(*args, fmt::format("{}.pluginConfig[{}]", path, name), facts);
        }
      }
    }
    if (const json::value* const percentage = written.if_contains("percentageOfNodesToScore")) {
      Flatten(*percentage, path + ".percentageOfNodesToScore", facts);
    }
  }
  return facts;
}

}  // namespace

std::vector<LocatedProblem> CheckFile(std::string_view text, const PluginCatalog& catalog,
                                      const framework::Features& features) {
  Decoded decoded = DecodeAll(text);
  Problems problems = std::move(decoded.problems);
  if (decoded.is_configuration) {
    ApplyDefaults(decoded.configuration, features);
    const Problems more = Validate(decoded.configuration, features);
    problems.insert(problems.end(), more.begin(), more.end());
    if (problems.empty()) {
      const auto compiled = Compile(std::move(decoded.configuration), catalog, features);
      if (!compiled) problems.push_back({"", compiled.error().message});
    }
  }
  const Lines lines = wire::FindYamlLines(text);
  std::vector<LocatedProblem> located;
  for (Problem& problem : problems) {
    LocatedProblem found{LineOf(lines, problem.path), std::move(problem.message)};
    if (std::ranges::find(located, found) == located.end()) located.push_back(std::move(found));
  }
  std::ranges::stable_sort(located, {}, &LocatedProblem::line);
  return located;
}

std::string DescribeFile(std::string_view text, const Compiled& compiled) {
  const Lines lines = wire::FindYamlLines(text);
  json::object document = ToDocument(compiled.configuration);
  const json::array profiles = document["profiles"].as_array();
  document.erase("profiles");
  std::map<std::string, std::string> settings;
  Flatten(document, "", settings);
  std::string out;
  for (const auto& [path, value] : settings) {
    const auto line = lines.find(path);
    out += fmt::format("{}: {}  # {}\n", path, value,
                       line == lines.end() ? "default" : fmt::format("line {}", line->second));
  }
  for (std::size_t i = 0; i < compiled.profiles.size(); ++i) {
    out += fmt::format("\nprofile {}\n", compiled.profiles[i].scheduler_name);
    for (const Point point : kExpansionOrder) {
      const std::string_view name = kPointNames[Index(point)];
      const bool in_file = lines.contains(fmt::format("profiles[{}].plugins.{}", i, name));
      out += fmt::format("  {}: {}{}\n", name, PluginList(compiled.profiles[i].at(point)),
                         in_file ? "  # changed by the file" : "");
    }
    const json::value* const configs = profiles[i].as_object().if_contains("pluginConfig");
    if (configs == nullptr) continue;
    for (const json::value& config : configs->as_array()) {
      const json::value* const args = config.as_object().if_contains("args");
      if (args == nullptr) continue;
      out += fmt::format("  arguments of {}: {}\n", std::string_view(config.at("name").as_string()),
                         wire::WriteJson(*args, wire::JsonEscapes::kPlain));
    }
  }
  return out;
}

std::string DiffConfigurations(const Compiled& a, const Compiled& b) {
  const std::map<std::string, std::string> before = Facts(a);
  const std::map<std::string, std::string> after = Facts(b);
  std::map<std::string, std::pair<const std::string*, const std::string*>> all;
  for (const auto& [path, value] : before) all[path].first = &value;
  for (const auto& [path, value] : after) all[path].second = &value;
  std::string out;
  for (const auto& [path, values] : all) {
    const auto& [old_value, new_value] = values;
    if (old_value != nullptr && new_value != nullptr && *old_value == *new_value) continue;
    if (old_value != nullptr) out += fmt::format("- {}: {}\n", path, *old_value);
    if (new_value != nullptr) out += fmt::format("+ {}: {}\n", path, *new_value);
  }
  return out;
}

}  // namespace berth::config
