#include "cli/conformance/case_profile.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "cli/conformance/case_json.h"

#include "config/compile.h"
#include "config/defaults.h"
#include "config/load.h"
#include "config/runtime_profile.h"
#include "config/validation.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

framework::Features ReadFeatures(const json::object& test_case) {
  framework::Features features = framework::Features::Upstream();
  if (const json::value* const gates = ValueAt(test_case, "featureGates")) {
    for (const auto& gate : gates->as_object()) {
      // Some gates only the API server reads.
      const framework::FeatureGate* const known = framework::FindFeatureGate(gate.key());
      if (known != nullptr) features.*(known->value) = gate.value().as_bool();
    }
  }
  return features;
}

// Given as JSON, or as the text of a file.
config::Configuration ReadConfiguration(const json::object& test_case, const framework::Features& features) {
  const json::value* const given = ValueAt(test_case, "config");
  if (given == nullptr) return config::DefaultConfiguration(features);
  auto loaded =
      config::Load(given->is_string() ? std::string(given->get_string()) : Serialized(*given), features);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  if (const auto problems = config::Validate(*loaded, features); !problems.empty()) {
    throw std::runtime_error(config::Aggregate(problems));
  }
  return *std::move(loaded);
}

}  // namespace

CaseProfile ReadCaseProfile(const json::object& test_case, std::string_view scheduler_name,
                            const framework::Registry& registry) {
  CaseProfile made;
  made.features = ReadFeatures(test_case);
  const auto built_in = config::PluginCatalog::BuiltIn(registry, made.features);
  if (!built_in) throw std::runtime_error(built_in.error().message);
  auto compiled = config::Compile(ReadConfiguration(test_case, made.features),
                                  config::PluginCatalog::InTree(), made.features);
  if (!compiled) throw std::runtime_error(compiled.error().message);
  const auto profile =
      std::ranges::find(compiled->profiles, scheduler_name, &config::CompiledProfile::scheduler_name);
  if (profile == compiled->profiles.end()) {
    throw std::runtime_error(fmt::format("no profile is named {}", scheduler_name));
  }
  const auto index = static_cast<std::size_t>(profile - compiled->profiles.begin());
  made.config =
      config::RuntimeProfile(*profile, compiled->configuration.profiles[index], *built_in, made.missing);
  return made;
}

}  // namespace berth::cli
