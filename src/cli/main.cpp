#include <CLI/CLI.hpp>
#include <string>

#include "cli/version.h"

int main(int argc, char** argv) {
  CLI::App app{"berth: a Kubernetes scheduler"};
  app.set_version_flag("--version", "berth " + std::string(berth::cli::Version()) + " (kube-scheduler " +
                                        std::string(berth::cli::KubernetesVersion()) + ")");
  CLI11_PARSE(app, argc, argv);
  return 0;
}
