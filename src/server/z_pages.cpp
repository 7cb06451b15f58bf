#include "server/z_pages.h"

#include <absl/strings/str_split.h>
#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <ctime>
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

// Whoever asks for plain JSON gets the refusal so; for others, whose wishes are not understood, it is laid
// out.
Answer NotAcceptable(std::string_view accept) {
  constexpr std::string_view kMessage =
      "only the following media types are accepted: application/json, application/yaml, text/plain";
  const json::object status{{"kind", "Status"},    {"apiVersion", "v1"},  {"metadata", json::object()},
                            {"status", "Failure"}, {"message", kMessage}, {"reason", "NotAcceptable"},
                            {"code", 406}};
  if (net::TrimBlanks(accept) == "application/json") {
    return {406, json::serialize(status) + "\n", "application/json"};
  }
  std::string text = "{";
  for (const auto& [key, value] : status) {
    const std::string_view name(key.data(), key.size());
    text += fmt::format("{}\n  \"{}\": {}", text.size() == 1 ? "" : ",", name, json::serialize(value));
  }
  return {406, text + "\n}", "application/json"};
}

json::object Object(const Choice& choice, std::string_view kind, const std::string& component) {
  return {{"kind", kind},
          {"apiVersion", "config.k8s.io/" + choice.version},
          {"metadata", json::object{{"name", component}}}};
}

Answer ObjectAnswer(const Choice& choice, std::string_view kind, const json::object& object) {
  const bool is_yaml = choice.form == Form::kYaml;
  return {200, is_yaml ? wire::WriteYaml(object) : json::serialize(object) + "\n",
          fmt::format("application/{};g=config.k8s.io;v={};as={}", is_yaml ? "yaml" : "json", choice.version,
                      kind)};
}

std::string Heading(const std::string& component, std::string_view page) {
  return fmt::format(
      "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
      "guarantees and is for debugging purposes only.\n",
      component, page);
}

std::string Timestamp(base::WallPoint time) { return api::FormatTime(api::TimeOf(time)); }

// "Tue Nov 17 21:53:37 UTC 2026".
std::string DateForPeople(base::WallPoint time) {
  const std::time_t seconds = api::TimeOf(time).unix_seconds;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02} UTC {}", kDays[static_cast<std::size_t>(parts.tm_wday)],
                     kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, parts.tm_year + 1900);
}

std::string DurationForPeople(std::int64_t seconds) {
  return fmt::format("{} hr {:02} min {:02} sec", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

Answer FlagzPage(std::string_view accept, const std::string& component, const FlagValues& flags) {
  const auto choice = Choose(accept, "Flagz");
  if (!choice) return NotAcceptable(accept);
  FlagValues sorted = flags;
  std::ranges::sort(sorted);
  if (choice->form == Form::kText) {
    std::string text = Heading(component, "flagz");
    for (const auto& [name, value] : sorted) text += fmt::format("{}={}\n", name, value);
    return {200, text};
  }
  json::object values;
  for (const auto& [name, value] : sorted) values[name] = value;
  json::object object = Object(*choice, "Flagz", component);
  object["flags"] = std::move(values);
  return ObjectAnswer(*choice, "Flagz", object);
}

Answer StatuszPage(std::string_view accept, const StatusFacts& facts) {
  const auto choice = Choose(accept, "Statusz");
  if (!choice) return NotAcceptable(accept);
  const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(facts.now - facts.started).count();
  if (choice->form == Form::kText) {
    std::string text = Heading(facts.component, "statusz");
    text += fmt::format(
        "\nStarted: {}\nUp: {}\nGo version: {}\nBinary version: {}\nEmulation version: {}\nPaths:",
        DateForPeople(facts.started), DurationForPeople(uptime), facts.compiler, facts.binary_version,
        facts.emulation_version);
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
  return ObjectAnswer(*choice, "Statusz", object);
}

std::string DeprecationWarning(std::string_view accept, std::string_view page) {
  const auto choice = Choose(accept, page == "flagz" ? "Flagz" : "Statusz");
  if (!choice || choice->version != "v1alpha1") return {};
  return fmt::format("299 - \"This version of the {} endpoint is deprecated. Please use a newer version.\"",
                     page);
}

}  // namespace berth::server
