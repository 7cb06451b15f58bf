#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace berth::cli {

// kube-scheduler, under whatever name it was started: its flags, its configuration file, its port, its exit
// codes. Schedules pods until the process is told to end. Returns the exit code: 0 after SIGTERM or SIGINT
// while an election decides who works, and for --help, --version and --write-config-to; else 1.
int RunScheduler(std::string_view program, std::span<const std::string> arguments, std::ostream& out,
                 std::ostream& errors);

}  // namespace berth::cli
