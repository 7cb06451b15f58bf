#include "server/z_pages.h"

#include <absl/strings/str_split.h>
#include <boost/json.hpp>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "api/time.h"
#include "api/wall_time.h"
#include "net/http_message.h"
#include "wire/yaml.h"

namespace berth::server {
namespace {

namespace json = boost::json;

enum class Form { kText, kJson, kYaml };

struct Choice {
  Form form = Form::kText;
  std::string version;
};

// One of the alternatives of an Accept header; nothing if it asks for something that is not served.
std::optional<Choice> ReadAlternative(std::string_view text, std::string_view kind) {
  Choice choice;
  std::string group;
  std::string as;
  bool first = true;
  for (const absl::string_view raw : absl::StrSplit(absl::string_view(text.data(), text.size()), ';')) {
    const std::string_view part = net::TrimBlanks({raw.data(), raw.size()});
    if (std::exchange(first, false)) {
      if (part == "text/plain" || part == "*/*" || part == "text/*") return Choice{};
      if (part != "application/json" && part != "application/yaml") return std::nullopt;
      choice.form = part == "application/json" ? Form::kJson : Form::kYaml;
      continue;
    }
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (key == "v") choice.version = value;
    if (key == "g") group = value;
    if (key == "as") as = value;
  }
  const bool known_version = choice.version == "v1beta1" || choice.version == "v1alpha1";
  if (!known_version || group != "config.k8s.io" || as != kind) return std::nullopt;
  return choice;
}

std::optional<Choice> Choose(std::string_view accept, std::string_view kind) {
  if (net::TrimBlanks(accept).empty()) return Choice{};
  for (const absl::string_view part : absl::StrSplit(absl::string_view(accept.data(), accept.size()), ',')) {
    if (auto choice = ReadAlternative(net::TrimBlanks({part.data(), part.size()}), kind)) return choice;
  }
  return std::nullopt;
}

Answer NotAcceptable() { return {406, "406 Not Acceptable\n"}; }

json::object Object(const Choice& choice, std::string_view kind, const std::string& component) {
  return {{"kind", kind},
          {"apiVersion", "config.k8s.io/" + choice.version},
          {"metadata", json::object{{"name", component}}}};
}

Answer ObjectAnswer(const Choice& choice, const json::object& object) {
  if (choice.form == Form::kYaml) return {200, wire::WriteYaml(object), "application/yaml"};
  return {200, json::serialize(object) + "\n", "application/json"};
}

std::string Heading(const std::string& component, std::string_view page) {
  return fmt::format(
      "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
      "guarantees and is for debugging purposes only.\n",
      component, page);
}

std::string Timestamp(base::WallPoint time) { return api::FormatTime(api::TimeOf(time)); }

}  // namespace

Answer FlagzPage(std::string_view accept, const std::string& component, const FlagValues& flags) {
  const auto choice = Choose(accept, "Flagz");
  if (!choice) return NotAcceptable();
  if (choice->form == Form::kText) {
    std::string text = Heading(component, "flagz") + "\n";
    for (const auto& [name, value] : flags) text += fmt::format("{}={}\n", name, value);
    return {200, text};
  }
  json::object values;
  for (const auto& [name, value] : flags) values[name] = value;
  json::object object = Object(*choice, "Flagz", component);
  object["flags"] = std::move(values);
  return ObjectAnswer(*choice, object);
}

Answer StatuszPage(std::string_view accept, const StatusFacts& facts) {
  const auto choice = Choose(accept, "Statusz");
  if (!choice) return NotAcceptable();
  const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(facts.now - facts.started).count();
  if (choice->form == Form::kText) {
    std::string text = Heading(facts.component, "statusz");
    text += fmt::format(
        "\nStarted: {}\nUp: {}s\nGo version: {}\nBinary version: {}\nEmulation version: {}\nPaths:",
        Timestamp(facts.started), uptime, facts.compiler, facts.binary_version, facts.emulation_version);
    for (const std::string& path : facts.paths) text += " " + path;
    return {200, text + "\n"};
  }
  json::array paths;
  for (const std::string& path : facts.paths) paths.push_back(json::string(path));
  json::object object = Object(*choice, "Statusz", facts.component);
  object["startTime"] = Timestamp(facts.started);
  object["uptimeSeconds"] = uptime;
  object["goVersion"] = facts.compiler;
  object["binaryVersion"] = facts.binary_version;
  object["emulationVersion"] = facts.emulation_version;
  object["paths"] = std::move(paths);
  return ObjectAnswer(*choice, object);
}

std::string DeprecationWarning(std::string_view accept, std::string_view page) {
  const auto choice = Choose(accept, page == "flagz" ? "Flagz" : "Statusz");
  if (!choice || choice->version != "v1alpha1") return {};
  return fmt::format("299 - \"This version of the {} endpoint is deprecated. Please use a newer version.\"",
                     page);
}

}  // namespace berth::server
