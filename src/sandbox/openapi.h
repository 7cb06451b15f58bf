#pragma once

#include <optional>
#include <string_view>

#include "sandbox/answer.h"

namespace berth::sandbox {

// /openapi/v3 and its documents, and /openapi/v2 as JSON: which paths there are, that they validate fields,
// and the schema of every kind, for `kubectl explain`. Descriptions are not kept. Nothing for other paths.
//
// kubectl asks for /openapi/v2 as protobuf when it meets a kind that it cannot find. It gets a document
// without definitions then, which says just that.
std::optional<Answer> AnswerOpenApi(std::string_view path, std::string_view accept);

}  // namespace berth::sandbox
