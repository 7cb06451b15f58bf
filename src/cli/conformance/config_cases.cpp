#include <boost/json.hpp>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/conformance/case_json.h"
#include "cli/conformance/cases.h"

#include "config/compile.h"
#include "config/load.h"
#include "config/validation.h"
#include "config/write.h"
#include "framework/features.h"

namespace berth::cli {
namespace {

namespace json = boost::json;
using Difference = std::optional<std::string>;

// What became of the file.
struct Outcome {
  std::string stage;  // where it failed; empty if it did not
  std::string error;
  std::optional<config::Compiled> compiled;
};

Outcome Run(std::string_view text) {
  const framework::Features features = framework::Features::Upstream();
  auto loaded = config::Load(text, features);
  if (!loaded) return {"load", loaded.error().message, {}};
  if (const config::Problems problems = config::Validate(*loaded, features); !problems.empty()) {
    return {"validate", config::Aggregate(problems), {}};
  }
  auto compiled = config::Compile(*std::move(loaded), config::PluginCatalog::InTree(), features);
  if (!compiled) return {"build", compiled.error().message, {}};
  return {"", "", *std::move(compiled)};
}

// What is wrong with the syntax of a text every parser says in its own words.
bool IsAboutSyntax(std::string_view error) {
  return error.starts_with("yaml: line ") || error.contains("json parse error: invalid");
}

Difference CompareErrors(const std::string& got, std::string_view want) {
  if (got == want) return std::nullopt;
  if (IsAboutSyntax(want) && got.substr(0, want.find(':')) == want.substr(0, want.find(':')))
    return std::nullopt;
  return fmt::format("error: got {}, want {}", got, want);
}

// As the recorded cases list them.
json::array ListProfiles(const config::Compiled& compiled) {
  json::array profiles;
  for (const config::CompiledProfile& profile : compiled.profiles) {
    json::object points;
    for (std::size_t point = 0; point < config::kPointCount; ++point) {
      if (point == config::Index(config::Point::kMultiPoint)) continue;
      json::array plugins;
      for (const config::PluginEntry& entry : profile.plugins[point]) {
        json::object plugin{{"name", entry.name}};
        if (entry.weight != 0) plugin["weight"] = entry.weight;
        plugins.push_back(std::move(plugin));
      }
      points[config::kPointNames[point]] = std::move(plugins);
    }
    profiles.push_back({{"schedulerName", profile.scheduler_name}, {"plugins", std::move(points)}});
  }
  return profiles;
}

Difference CheckFileCase(const json::object& test_case) {
  const Outcome outcome = Run(TextAt(test_case, "yaml"));
  if (auto difference = Compare("stage", outcome.stage, std::string(TextAt(test_case, "stage")))) {
    return fmt::format("{} ({}; want {})", *difference, outcome.error, TextAt(test_case, "error"));
  }
  if (!outcome.compiled) return CompareErrors(outcome.error, TextAt(test_case, "error"));
  const json::value expanded = config::ToDocument(outcome.compiled->configuration);
  if (expanded != test_case.at("expanded")) {
    return fmt::format("expanded: got {}, want {}", Serialized(expanded),
                       Serialized(test_case.at("expanded")));
  }
  const json::value profiles = ListProfiles(*outcome.compiled);
  if (profiles != test_case.at("profiles")) {
    return fmt::format("profiles: got {}, want {}", Serialized(profiles),
                       Serialized(test_case.at("profiles")));
  }
  return std::nullopt;
}

}  // namespace

Difference CheckConfigCase(const json::object& test_case) {
  try {
    return CheckFileCase(test_case);
  } catch (const std::exception& error) {
    return fmt::format("the case cannot be read: {}", error.what());
  }
}

}  // namespace berth::cli
