#pragma once

namespace berth::shell {

// Gives memory that the calling thread has freed back to the system, where the program's allocator keeps it
// otherwise. Worth its milliseconds only after something large is over: what the first reading of a cluster
// leaves behind would stay for as long as the process.
void ReturnFreeMemory();

// Lets go of the pages of the program's code and constants, those of its libraries included. What is still
// used comes back with a page fault, from the files that the system keeps in memory anyway; what only the
// start of a process needs stays away: most of the code, all names and relocations of the loader.
void ReturnStartupPages();

}  // namespace berth::shell
