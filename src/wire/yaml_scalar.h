#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace berth::wire {

// What an unquoted scalar stands for by the rules of go-yaml v2. monostate is null; a view is the text
// itself.
using YamlScalar = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view>;

YamlScalar ResolveYamlScalar(std::string_view text);

}  // namespace berth::wire
