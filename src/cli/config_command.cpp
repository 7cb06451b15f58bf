#include "cli/config_command.h"

#include <cstring>
#include <fmt/format.h>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "config/check.h"
#include "config/compile.h"
#include "config/defaults.h"
#include "config/feature_gates.h"
#include "config/load.h"
#include "config/validation.h"
#include "plugins/all_plugins.h"

namespace berth::cli {
namespace {

constexpr int kWrong = 2;

struct Setup {
  framework::Features features;
  config::PluginCatalog catalog;
};

base::Result<Setup> SetUp(const ConfigCommandOptions& options) {
  config::FeatureGates gates;
  if (const auto set = gates.Set(options.feature_gates); !set) return std::unexpected(set.error());
  Setup setup{gates.ToFeatures(), {}};
  const auto built_in = config::PluginCatalog::BuiltIn(plugins::AllPlugins(), setup.features);
  if (!built_in) return std::unexpected(built_in.error());
  setup.catalog = config::PluginCatalog::With(*built_in);
  return setup;
}

struct CompiledFile {
  std::string text;
  config::Compiled compiled;
};

base::Result<CompiledFile> CompileFile(const std::string& path, const Setup& setup) {
  auto text = base::ReadFile(path);
  if (!text) return std::unexpected(text.error());
  auto loaded = config::Load(*text, setup.features);
  if (!loaded) return base::Fail(fmt::format("{}: {}", path, loaded.error().message));
  if (const auto problems = config::Validate(*loaded, setup.features); !problems.empty()) {
    return base::Fail(fmt::format("{}: {}", path, config::Aggregate(problems)));
  }
  auto compiled = config::Compile(*std::move(loaded), setup.catalog, setup.features);
  if (!compiled) return base::Fail(fmt::format("{}: {}", path, compiled.error().message));
  return CompiledFile{*std::move(text), *std::move(compiled)};
}

int Complain(const base::Error& error, std::ostream& errors) {
  errors << "berth config: " << error.message << '\n';
  return kWrong;
}

}  // namespace

int CheckConfig(const std::string& file, const ConfigCommandOptions& options, std::ostream& out,
                std::ostream& errors) {
  const auto setup = SetUp(options);
  if (!setup) return Complain(setup.error(), errors);
  const auto text = base::ReadFile(file);
  if (!text) return Complain(text.error(), errors);
  const auto problems = config::CheckFile(*text, setup->catalog, setup->features);
  for (const config::LocatedProblem& problem : problems) {
    out << file;
    if (problem.line != 0) out << ':' << problem.line;
    out << ": " << problem.message << '\n';
  }
  if (problems.empty()) out << file << ": ok\n";
  return problems.empty() ? 0 : 1;
}

int ExpandConfig(const std::string& file, const ConfigCommandOptions& options, std::ostream& out,
                 std::ostream& errors) {
  const auto setup = SetUp(options);
  if (!setup) return Complain(setup.error(), errors);
  const auto compiled = CompileFile(file, *setup);
  if (!compiled) return Complain(compiled.error(), errors);
  const auto defaults =
      config::Compile(config::DefaultConfiguration(setup->features), setup->catalog, setup->features);
  if (!defaults) return Complain(defaults.error(), errors);
  out << config::DescribeFile(compiled->text, compiled->compiled, *defaults);
  return 0;
}

int DiffConfigs(const std::string& a, const std::string& b, const ConfigCommandOptions& options,
                std::ostream& out, std::ostream& errors) {
  const auto setup = SetUp(options);
  if (!setup) return Complain(setup.error(), errors);
  const auto first = CompileFile(a, *setup);
  if (!first) return Complain(first.error(), errors);
  const auto second = CompileFile(b, *setup);
  if (!second) return Complain(second.error(), errors);
  const std::string difference = config::DiffConfigurations(first->compiled, second->compiled);
  out << difference;
  return difference.empty() ? 0 : 1;
}

}  // namespace berth::cli
