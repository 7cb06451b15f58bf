// Stands in for libFuzzer in ordinary builds: feeds every file it is given to the fuzz target once, so that
// each input that was ever worth keeping is a test in every build, under every sanitizer.
//
//   berth_<room>_<name>_fuzz FOLDER_OR_FILE...
//
// A missing or empty folder is a failure: a replay of nothing would pass for ever.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

// Appends the inputs that `path` names; false if there are none.
bool Collect(const fs::path& path, std::vector<fs::path>& inputs) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status)) {
    inputs.push_back(path);
    return true;
  }
  if (!fs::is_directory(status)) {
    std::fprintf(stderr, "%s: no such file or folder\n", path.c_str());
    return false;
  }
  const std::size_t before = inputs.size();
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file()) inputs.push_back(it->path());
  }
  if (error) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), error.message().c_str());
    return false;
  }
  if (inputs.size() == before) {
    std::fprintf(stderr, "%s: the folder holds no inputs\n", path.c_str());
    return false;
  }
  return true;
}

bool Replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return false;
  }
  // As libFuzzer does: a copy of exactly this size, so that the address sanitizer sees a read one byte past
  // the end, and never a null pointer, not even for no bytes.
  const auto input = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), input.get());
  LLVMFuzzerTestOneInput(input.get(), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER_OR_FILE...\n", argv[0]);
    return 2;
  }
  std::vector<fs::path> inputs;
  bool ok = true;
  for (int i = 1; i < argc; ++i) ok &= Collect(argv[i], inputs);
  std::sort(inputs.begin(), inputs.end());
  for (const fs::path& input : inputs) {
    // Before the call and flushed: if the target crashes, the last line names the input that did it.
    std::printf("%s\n", input.c_str());
    std::fflush(stdout);
    ok &= Replay(input);
  }
  std::printf("%zu inputs replayed\n", inputs.size());
  return ok ? 0 : 1;
}
