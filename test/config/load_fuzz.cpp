#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "config/check.h"
#include "config/load.h"
#include "config/validation.h"
#include "config/write.h"
#include "framework/features.h"

// A file of any bytes is read or refused, and what is refused is refused in words. What is accepted can be
// written, and what was written is accepted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::framework::Features features;
  const PluginCatalog catalog = PluginCatalog::InTree();
  const auto loaded = Load(text, features);
  if (!loaded) {
    BERTH_CHECK(!loaded.error().message.empty());
    BERTH_CHECK(!CheckFile(text, catalog, features).empty());
    return 0;
  }
  if (!Validate(*loaded, features).empty() || !loaded->extenders.empty()) return 0;
  const auto compiled = Compile(*loaded, catalog, features);
  if (!compiled) return 0;
  BERTH_CHECK(CheckFile(text, catalog, features).empty());
  BERTH_CHECK(Load(WriteYaml(compiled->configuration), features).has_value());
  return 0;
}
