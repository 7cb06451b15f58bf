#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/answer.h"

namespace berth::sandbox {

// What is served: /api, /apis and the paths of groups and versions, in the aggregated form to clients that
// accept it and in the older one to all others. Nothing if the path is no discovery.
std::optional<Answer> AnswerDiscovery(std::string_view path, const std::string* accept);

}  // namespace berth::sandbox
