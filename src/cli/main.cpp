#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/conformance/command.h"
#include "cli/version.h"

namespace {

int Run(int argc, char** argv) {
  CLI::App app{"berth: a Kubernetes scheduler"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "berth " + std::string(berth::cli::Version()) + " (kube-scheduler " +
                                        std::string(berth::cli::KubernetesVersion()) + ")");

  std::vector<std::string> files;
  berth::cli::ConformanceOptions options;
  CLI::App* conformance =
      app.add_subcommand("conformance", "Compare berth with cases recorded from kube-scheduler's own code");
  conformance->add_option("FILE", files, "JSON Lines, plain or gzip")->required();
  conformance->add_option("--failures-max", options.failures_shown_max, "Failing cases to print per file")
      ->capture_default_str();

  CLI11_PARSE(app, argc, argv);
  if (conformance->parsed()) return berth::cli::RunConformance(files, options, std::cout).failed == 0 ? 0 : 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "berth: " << error.what() << '\n';
    return 70;
  }
}
