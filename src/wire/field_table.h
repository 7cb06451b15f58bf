#pragma once

#include <string_view>

namespace berth::wire {

// The text of fields.tsv; its definition is generated when the build is configured.
extern const std::string_view kFieldTable;

}  // namespace berth::wire
