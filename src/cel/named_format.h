#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

// A text format of the Kubernetes API: format.dns1123Label() and the like.
struct NamedFormat {
  std::string_view function;  // "dns1123Label"
  std::string_view name;      // "DNS1123Label"
  std::uint64_t regex_cost;   // what a character of the text counts, as if a regular expression ran over it
  // What is wrong with the text; empty if nothing.
  std::vector<std::string> (*problems)(const std::string& text);
};

std::span<const NamedFormat> NamedFormats();
// Null if there is none.
const NamedFormat* FindNamedFormat(std::string_view function);

}  // namespace berth::cel
