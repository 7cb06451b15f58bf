#pragma once

namespace berth::shell {

// Gives memory that the calling thread has freed back to the system, where the program's allocator keeps it
// otherwise. Worth its milliseconds only after something large is over: what the first reading of a cluster
// leaves behind would stay for as long as the process.
void ReturnFreeMemory();

// Lets go of the pages of the program and its libraries that are as they are in their files. Those that are
// still needed come back by themselves, one by one, and cost no reading; those that only the start needed
// (flags, YAML, keys, whatever the system mapped around them) do not.
void ReleaseProgramPages();

}  // namespace berth::shell
