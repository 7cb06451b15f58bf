#pragma once

namespace berth::shell {

// Gives memory that the calling thread has freed back to the system, where the program's allocator keeps it
// otherwise. Worth its milliseconds only after something large is over: what the first reading of a cluster
// leaves behind would stay for as long as the process.
void ReturnFreeMemory();

}  // namespace berth::shell
