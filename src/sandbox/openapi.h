#pragma once

#include <optional>
#include <string_view>

#include "sandbox/answer.h"

namespace berth::sandbox {

// /openapi/v3 and its documents, as far as clients need them: which paths there are, that they validate
// fields, and which kind each is about. Nothing for other paths.
std::optional<Answer> AnswerOpenApi(std::string_view path);

}  // namespace berth::sandbox
