#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "cli/arguments.h"
#include "cli/bench_command.h"
#include "cli/bench_command_conditions.h"
#include "cli/config_command.h"
#include "cli/conformance/command.h"
#include "cli/sandbox_command.h"
#include "cli/scheduler_command.h"
#include "cli/simulate_command.h"
#include "cli/version.h"

namespace {

constexpr int kWrongUse = 2;

CLI::App* AddSandbox(CLI::App& app, berth::cli::SandboxOptions& options) {
  CLI::App* sandbox = app.add_subcommand(
      "sandbox", "Serve a control plane of its own: the API of a cluster, with nodes that act");
  sandbox->add_option("--listen", options.listen, "HOST:PORT; port 0 takes any free one")
      ->capture_default_str();
  sandbox->add_option("--kubeconfig-out", options.kubeconfig_out, "Where to write the kubeconfig")
      ->capture_default_str();
  sandbox->add_option("--nodes", options.nodes, "How many nodes to start with")->capture_default_str();
  sandbox->add_option("--manifest", options.manifests,
                      "Objects to start with, YAML or JSON; may be repeated");
  sandbox->add_flag("--no-scheduler", options.no_scheduler, "Leave scheduling to another process");
  sandbox->add_flag("--no-controllers", options.no_controllers,
                    "Leave Deployments, Jobs and the like to another process; nodes still run pods");
  sandbox->add_option("--disable-controller", options.disabled_controllers,
                      "Leave one out, by kube-controller-manager's name for it; may be repeated");
  sandbox->add_flag("--no-kubelet", options.no_kubelet, "Nodes run nothing: bound pods stay as they are");
  sandbox->add_option("--insecure-port", options.insecure_port,
                      "Serve plain HTTP without credentials here too");
  sandbox->add_option("--data-dir", options.data_dir, "Keep the objects here, across restarts");
  sandbox->add_option("--fault", options.faults,
                      "KEY=VALUE of a fault to inject; may be repeated (docs/sandbox.md)");
  sandbox->add_option(
      "--token-auth-file", options.token_auth_file,
      "More users, as kube-apiserver takes them: token,name,uid,\"group,group\" on each line");
  sandbox->add_option("--audit-log", options.audit_log,
                      "Append a line for each request here, as kube-apiserver's audit log has it");
  sandbox->add_flag("--narrate", options.narrate, "Print what happens in the cluster");
  return sandbox;
}

struct ConfigFlags {
  berth::cli::ConfigCommandOptions options;
  std::string file;
  std::string other;
};

CLI::App* AddConfig(CLI::App& app, ConfigFlags& flags) {
  CLI::App* config =
      app.add_subcommand("config", "Look at a scheduler's configuration file without running it");
  config->require_subcommand(1);
  // One value each time: what follows is the file.
  config
      ->add_option("--feature-gates", flags.options.feature_gates,
                   "As kube-scheduler's flag; may be repeated")
      ->allow_extra_args(false);
  // The gates may stand behind the command, too.
  CLI::App* check =
      config->add_subcommand("check", "Say everything that is wrong with a file, by line")->fallthrough();
  check->add_option("FILE", flags.file)->required();
  CLI::App* expand =
      config->add_subcommand("expand", "Show what a scheduler runs with a file")->fallthrough();
  expand->add_option("FILE", flags.file)->required();
  CLI::App* diff =
      config->add_subcommand("diff", "Show what differs between what two files come to")->fallthrough();
  diff->add_option("A", flags.file)->required();
  diff->add_option("B", flags.other)->required();
  return config;
}

int RunConfig(const CLI::App& config, const ConfigFlags& flags) {
  if (config.got_subcommand("check")) {
    return berth::cli::CheckConfig(flags.file, flags.options, std::cout, std::cerr);
  }
  if (config.got_subcommand("expand")) {
    return berth::cli::ExpandConfig(flags.file, flags.options, std::cout, std::cerr);
  }
  return berth::cli::DiffConfigs(flags.file, flags.other, flags.options, std::cout, std::cerr);
}

CLI::App* AddSimulate(CLI::App& app, berth::cli::SimulateOptions& options) {
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Run the scheduler in virtual time, with faults, and check its promises");
  simulate->add_option("--seeds", options.seeds, "How many runs, with the seeds 1, 2, ...")
      ->capture_default_str();
  simulate->add_option("--seed", options.seed, "One run with this seed, in more words");
  simulate->add_flag("--story", options.story,
                     "With --seed: everything that happens on the server, in order");
  simulate->add_option("--minutes", options.minutes, "As many runs as fit into this time");
  simulate->add_option("--actions", options.actions, "What users and machines do in a run")
      ->capture_default_str();
  simulate->add_flag("--worlds,!--no-worlds", options.worlds,
                     "Half of the clusters have volumes and half have devices; on unless --no-worlds");
  return simulate;
}

// Which workloads, which server, which limits: the same for all that runs workloads.
void AddBenchFlags(CLI::App& command, berth::cli::BenchOptions& options) {
  command.add_option("--config", options.configs, "A performance-config.yaml; may be repeated")->required();
  command
      .add_option("--label-filter", options.label_filter,
                  "Labels that a workload must have, or with - must not have")
      ->capture_default_str();
  command.add_option("--name", options.name, "A regular expression that \"case/workload\" must match");
  command.add_option("--out", options.out, "A folder for the results as JSON and CSV");
  command.add_option("--html", options.html, "A file for a page with charts");
  command.add_option("--logs", options.logs, "A folder to keep what the processes print");
  command
      .add_option("--qps", options.requests_per_second,
                  "Requests per second that the workload makes; 0: all at once")
      ->capture_default_str();
  command
      .add_option("--scheduler-qps", options.scheduler_requests_per_second,
                  "Requests per second that a scheduler's process may make; 0: no limit")
      ->capture_default_str();
  command.add_flag("--precreate", options.precreate,
                   "Start the scheduler only when the pods to be measured are there");
  command.add_flag("--check-thresholds", options.check_thresholds,
                   "Fail where a workload's own threshold is missed; in core mode pods come at --qps, so "
                   "that its throughput is at most that");
  command.add_option("--seed", options.seed, "Of names and of choices among equals")->capture_default_str();
  command.add_option("--scheduler", options.scheduler, "The scheduler's program; this one if not given");
  command.add_option("--scheduler-config", options.scheduler_config,
                     "Its configuration file, for test cases that have none of their own");
  command.add_option("--scheduler-arg", options.scheduler_arguments,
                     "One more argument for it; may be repeated");
  command.add_flag("--bare-scheduler", options.is_scheduler_bare,
                   "It takes --config and nothing else, and serves nothing");
  command.add_option("--control-plane", options.control_plane,
                     "A program that starts a control plane and prints \"ready KUBECONFIG\"; a sandbox of "
                     "this program if not given");
  command.add_option("--fault", options.faults,
                     "KEY=VALUE of a fault of the sandbox; may be repeated (docs/sandbox.md)");
  command.add_flag("--plain-http", options.plain_http, "Talk to the sandbox without TLS");
}

struct BenchFlags {
  berth::cli::BenchOptions run;
  berth::cli::VersusCommandOptions versus;
  berth::cli::CompareCommandOptions compare;
};

CLI::App* AddBench(CLI::App& app, BenchFlags& flags) {
  CLI::App* bench = app.add_subcommand("bench", "Measure schedulers with Kubernetes' own workload files");
  bench->require_subcommand(1);
  CLI::App* run = bench->add_subcommand("run", "Run workloads and print what they cost");
  AddBenchFlags(*run, flags.run);
  run->add_option(
         "--mode", flags.run.mode,
         "core: the scheduler alone, in one process with its server; sandbox: berth and its sandbox, "
         "each a process; external: the --scheduler, on a sandbox or another server")
      ->capture_default_str();
  run->add_option("--rounds", flags.run.rounds, "How often each workload runs")->capture_default_str();
  run->add_flag("--list", flags.run.lists_only,
                "Run nothing: print what would run, and what is not supported and why");
  run->add_option("--kubeconfig", flags.run.kubeconfig, "An API server that is there already, and empty");
  run->add_option("--scheduler-kubeconfig", flags.run.scheduler_kubeconfig,
                  "How the scheduler reaches it; the same way if not given");

  CLI::App* versus =
      bench->add_subcommand("versus", "Run workloads with two schedulers in turn and compare them");
  AddBenchFlags(*versus, flags.versus.bench);
  versus->add_option("--peer", flags.versus.peer, "The other scheduler's program, for example kube-scheduler")
      ->required();
  versus->add_option("--peer-config", flags.versus.peer_config,
                     "Its configuration file, for test cases that have none of their own");
  versus->add_option("--peer-arg", flags.versus.peer_arguments, "One more argument for it; may be repeated");
  versus->add_flag("--bare-peer", flags.versus.is_peer_bare,
                   "It takes --config and nothing else, and serves nothing");
  flags.versus.bench.rounds = 3;
  versus->add_option("--rounds", flags.versus.bench.rounds, "How often each of them runs each workload")
      ->capture_default_str();
  versus->add_option("--warm-ups", flags.versus.warm_ups, "Runs of each before those that count")
      ->capture_default_str();
  versus->add_flag("--wide", flags.versus.wide, "Print every quantity and percentile, too");
  versus->add_option("--markdown", flags.versus.markdown, "A file for the table in Markdown");

  CLI::App* compare = bench->add_subcommand("compare", "Compare two files with results");
  compare->add_option("A", flags.compare.first)->required();
  compare->add_option("B", flags.compare.second)->required();
  compare->add_flag("--wide", flags.compare.wide, "Print every quantity and percentile, too");
  compare->add_option("--csv", flags.compare.csv, "A file for all numbers");
  compare->add_option("--html", flags.compare.html, "A file for a page with charts");
  compare->add_option("--markdown", flags.compare.markdown, "A file for the table in Markdown");
  return bench;
}

int RunBenchCommand(const CLI::App& bench, BenchFlags& flags, std::span<const std::string> arguments) {
  flags.run.command = berth::cli::CommandText(arguments);
  flags.versus.bench.command = flags.compare.command = flags.run.command;
  flags.run.is_terminal = flags.versus.bench.is_terminal = ::isatty(STDERR_FILENO) == 1;
  if (bench.got_subcommand("run")) return berth::cli::RunBench(flags.run, std::cout, std::cerr);
  if (bench.got_subcommand("versus")) {
    return berth::cli::RunBenchVersus(flags.versus, std::cout, std::cerr);
  }
  return berth::cli::RunBenchCompare(flags.compare, std::cout, std::cerr);
}

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

  berth::cli::SandboxOptions sandbox_options;
  const CLI::App* sandbox = AddSandbox(app, sandbox_options);

  ConfigFlags config_flags;
  const CLI::App* config = AddConfig(app, config_flags);
  // For the list of subcommands; its flags are kube-scheduler's and are read where that is imitated.
  app.add_subcommand("scheduler", "Schedule the pods of a cluster, as kube-scheduler does");

  berth::cli::SimulateOptions simulate_options;
  const CLI::App* simulate = AddSimulate(app, simulate_options);

  BenchFlags bench_flags;
  const CLI::App* bench = AddBench(app, bench_flags);

  const auto is_named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    std::cerr << "berth: there is no command \"" << argv[1] << "\"; berth --help lists them\n";
    return kWrongUse;
  }
  try {
    app.name(std::filesystem::path(argv[0]).filename().string());
    app.parse(berth::cli::ForParser(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const CLI::ParseError& error) {
    // Codes of their own are the library's; to others a wrong command line is a wrong command line.
    return app.exit(error) == 0 ? 0 : kWrongUse;
  }
  if (bench->parsed()) {
    return RunBenchCommand(*bench, bench_flags, std::vector<std::string>(argv + 1, argv + argc));
  }
  if (simulate->parsed()) return berth::cli::RunSimulate(simulate_options, std::cout);
  if (config->parsed()) return RunConfig(*config, config_flags);
  if (sandbox->parsed()) return berth::cli::RunSandbox(sandbox_options, std::cout, std::cerr);
  if (conformance->parsed()) return berth::cli::RunConformance(files, options, std::cout).failed == 0 ? 0 : 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv, argv + argc);
    const std::string program =
        std::filesystem::path(arguments.empty() ? "berth" : arguments[0]).filename().string();
    const std::span<const std::string> all(arguments);
    // In an image made for kube-scheduler the binary has that name.
    if (program == "kube-scheduler") {
      return berth::cli::RunScheduler(program, all.subspan(1), std::cout, std::cerr);
    }
    if (arguments.size() > 1 && arguments[1] == "scheduler") {
      return berth::cli::RunScheduler(program, all.subspan(2), std::cout, std::cerr);
    }
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "berth: " << error.what() << '\n';
    return 70;
  }
}
