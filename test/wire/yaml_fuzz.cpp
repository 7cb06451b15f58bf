// Any text. What is YAML becomes JSON, and YAML written from that JSON reads back as the same.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::wire;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto documents = SplitYaml(input)) {
    for (const YamlDocument& document : *documents) {
      static_cast<void>(YamlToJson(document.text, {.unique_keys = true, .first_line = document.first_line}));
    }
  }
  const auto json = YamlToJson(input);
  if (!json) return 0;
  const auto value = ParseJson(*json);
  BERTH_CHECK(value.has_value());
  const std::string yaml = WriteYaml(*value);
  const auto json_again = YamlToJson(yaml);
  BERTH_CHECK(json_again.has_value());
  BERTH_CHECK(WriteYaml(*ParseJson(*json_again)) == yaml);
  return 0;
}
