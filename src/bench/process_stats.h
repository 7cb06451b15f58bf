#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

#include "base/clock.h"

// What the operating system says that processes use.
namespace berth::bench {

// User and system, all threads, those that have ended included; to the nanosecond. Zero for a process that is
// gone.
base::Duration ProcessorTimeOf(pid_t process);

// The processes of a group, as far as they still run.
std::vector<pid_t> ProcessesOfGroup(pid_t group);

// The same for all processes of a group, as far as they still run; in ticks of a hundredth of a second.
base::Duration ProcessorTimeOfGroup(pid_t group);

// The most memory that it ever had at once, in bytes, and since the last reset.
std::int64_t PeakMemoryOf(pid_t process);
void ResetPeakMemoryOf(pid_t process);

// Of the calling thread.
base::Duration ThreadProcessorTime();
// The least that a reading of it takes.
base::Duration ThreadProcessorTimeCost();

// What all processors together did since the machine started.
struct MachineTime {
  base::Duration busy{};
  base::Duration total{};
};
MachineTime ReadMachineTime();

}  // namespace berth::bench
