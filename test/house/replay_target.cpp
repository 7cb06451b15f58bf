// A fuzz target that finds its bug in any input that starts with '!'.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && data[0] == '!') std::abort();
  return 0;
}
