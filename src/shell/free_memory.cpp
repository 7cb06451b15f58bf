#include "shell/free_memory.h"

// Of mimalloc, if the program is linked with it: the room does not depend on which allocator that is.
extern "C" void mi_collect(bool force) __attribute__((weak));

namespace berth::shell {

void ReturnFreeMemory() {
  if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace berth::shell
