#include "shell/free_memory.h"

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// Of mimalloc, if the program is linked with it: the room does not depend on which allocator that is.
extern "C" void mi_collect(bool force) __attribute__((weak));

namespace berth::shell {
namespace {

// Whether the loader wrote into what is never written later, to fit it to its address: such pages are not
// those of the file. What it wrote into data is in segments that can be written.
bool HasChangedConstants(const dl_phdr_info& object) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0)) {
        return true;
      }
    }
  }
  return false;
}

int LetGoOfConstants(dl_phdr_info* object, std::size_t, void* page_size) {
  if (HasChangedConstants(*object)) return 0;
  const std::uintptr_t page = *static_cast<const std::uintptr_t*>(page_size);
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + header.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = object->dlpi_addr + header.p_vaddr + header.p_filesz;
    // What the system does not let go of stays.
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ReturnFreeMemory() {
  if (mi_collect != nullptr) mi_collect(true);
}

void ReturnStartupPages() {
  auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  dl_iterate_phdr(&LetGoOfConstants, &page_size);
}

}  // namespace berth::shell
