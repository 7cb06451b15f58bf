#include "config/check.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
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

// Arguments by plugin, without what says of what kind they are.
std::map<std::string, std::string> ArgumentsOf(const json::object& profile) {
  std::map<std::string, std::string> arguments;
  const json::value* const configs = profile.if_contains("pluginConfig");
  if (configs == nullptr) return arguments;
  for (const json::value& config : configs->as_array()) {
    const json::value* const args = config.as_object().if_contains("args");
    if (args == nullptr) continue;
    json::value shown = *args;
    if (json::object* const object = shown.if_object()) {
      object->erase("apiVersion");
      object->erase("kind");
    }
    arguments.emplace(config.at("name").as_string(), wire::WriteJson(shown, wire::JsonEscapes::kPlain));
  }
  return arguments;
}

// The number behind `words`, which is cut off with them; 0 if the text does not begin so.
std::size_t CutNumber(std::string_view& text, std::string_view words) {
  if (!text.starts_with(words)) return 0;
  std::size_t number = 0;
  const std::string_view digits = text.substr(words.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Where a problem is: at its path, or where its own words say. Several that came as one are told apart.
std::vector<LocatedProblem> Locate(const Problem& problem, const Lines& lines, std::string_view text) {
  constexpr std::string_view kRepeated = "yaml: unmarshal errors:\n";
  std::string_view message = problem.message;
  std::vector<LocatedProblem> located;
  if (message.starts_with(kRepeated)) {
    message.remove_prefix(kRepeated.size());
    while (!message.empty()) {
      std::string_view line = message.substr(0, message.find('\n'));
      message.remove_prefix(std::min(message.size(), line.size() + 1));
      const std::size_t number = CutNumber(line, "  line ");
      line.remove_prefix(line.starts_with(": ") ? 2 : 0);
      located.push_back({number, std::string(line)});
    }
    return located;
  }
  std::size_t line = LineOf(lines, problem.path);
  if (std::string_view rest = message; line == 0) line = CutNumber(rest, "yaml: line ");
  constexpr std::string_view kOffset = "invalid JSON at offset ";
  if (const std::size_t at = message.find(kOffset); line == 0 && at != std::string_view::npos) {
    std::string_view rest = message.substr(at);
    const std::size_t offset = std::min(CutNumber(rest, kOffset), text.size());
    line = 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
  }
  located.push_back({line, problem.message});
  return located;
}

}  // namespace

std::vector<LocatedProblem> CheckFile(std::string_view text, const PluginCatalog& catalog,
                                      const framework::Features& features) {
  Decoded decoded = DecodeAll(text);
  Problems problems = std::move(decoded.problems);
  if (decoded.is_configuration) {
    ApplyDefaults(decoded.configuration, features);
    const Problems wrong = Validate(decoded.configuration, features);
    problems.insert(problems.end(), wrong.begin(), wrong.end());
    for (Problem& problem : CompileProblems(decoded.configuration, catalog, features)) {
      const bool is_told = std::ranges::find(wrong, problem.path, &Problem::path) != wrong.end();
      if (!is_told) problems.push_back(std::move(problem));
    }
  }
  const Lines lines = wire::FindYamlLines(text);
  std::vector<LocatedProblem> located;
  for (const Problem& problem : problems) {
    for (LocatedProblem& found : Locate(problem, lines, text)) {
      if (std::ranges::find(located, found) == located.end()) located.push_back(std::move(found));
    }
  }
  std::ranges::stable_sort(located, {}, &LocatedProblem::line);
  return located;
}

std::string DescribeFile(std::string_view text, const Compiled& compiled, const Compiled& defaults) {
  const Lines lines = wire::FindYamlLines(text);
  json::object document = ToDocument(compiled.configuration);
  const json::array profiles = document["profiles"].as_array();
  json::object plain = ToDocument(defaults.configuration);
  const json::object plain_profile = plain["profiles"].as_array().front().as_object();
  std::map<std::string, std::string> settings;
  std::map<std::string, std::string> plain_settings;
  document.erase("profiles");
  plain.erase("profiles");
  Flatten(document, "", settings);
  Flatten(plain, "", plain_settings);
  std::string out;
  for (const auto& [path, value] : settings) {
    const auto line = lines.find(path);
    const auto usual = plain_settings.find(path);
    std::string note = line == lines.end() ? "default" : fmt::format("line {}", line->second);
    if (usual != plain_settings.end() && usual->second != value) note += ", default " + usual->second;
    if (path == "percentageOfNodesToScore" && line == lines.end()) note += ": all nodes are looked at";
    out += fmt::format("{}: {}  # {}\n", path, value, note);
  }
  const std::map<std::string, std::string> plain_arguments = ArgumentsOf(plain_profile);
  // Below what differs, so that the two can be compared by eye.
  const auto usually = [&out](const std::string& now, const std::string& usual) {
    if (now != usual) out += fmt::format("    # default: {}\n", usual.empty() ? "none" : usual);
  };
  for (std::size_t i = 0; i < compiled.profiles.size(); ++i) {
    out += fmt::format("\nprofile {}\n", compiled.profiles[i].scheduler_name);
    if (const auto* const percentage = profiles[i].as_object().if_contains("percentageOfNodesToScore")) {
      out += fmt::format("  percentageOfNodesToScore: {}\n",
                         wire::WriteJson(*percentage, wire::JsonEscapes::kPlain));
    }
    for (const Point point : kExpansionOrder) {
      const std::string list = PluginList(compiled.profiles[i].at(point));
      out += fmt::format("  {}:{}{}\n", kPointNames[Index(point)], list.empty() ? "" : " ", list);
      usually(list, PluginList(defaults.profiles.front().at(point)));
    }
    for (const auto& [name, arguments] : ArgumentsOf(profiles[i].as_object())) {
      out += fmt::format("  arguments of {}: {}\n", name, arguments);
      if (const auto usual = plain_arguments.find(name); usual != plain_arguments.end()) {
        usually(arguments, usual->second);
      }
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
