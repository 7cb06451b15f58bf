#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/status_error.h"

// Which form a request is in and which form its answer is to have.
namespace berth::sandbox {

enum class MediaType : std::uint8_t { kJson, kYaml, kProtobuf };
enum class Shape : std::uint8_t { kObject, kTable, kMetadata };

struct AnswerForm {
  MediaType media = MediaType::kJson;
  Shape shape = Shape::kObject;
};

// One alternative of an Accept header: "application/json;as=Table;v=v1".
struct AcceptClause {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string_view parameter(std::string_view name) const;
};

std::vector<AcceptClause> ParseAccept(std::string_view header);

// The first alternative that can be served; JSON if there is no header.
ApiResult<AnswerForm> NegotiateAnswer(const std::string* accept, bool is_watch);
// What to answer an error in if the form itself was refused.
AnswerForm NegotiateError(const std::string* accept);

std::string_view ContentType(MediaType media);

// Without a header a body is JSON.
ApiResult<MediaType> BodyType(const std::string* content_type);
// The media type without its parameters, in lower case.
std::string BareType(std::string_view content_type);

// JSON if a document has no protobuf form.
std::pair<MediaType, std::string> EncodeDocument(const boost::json::object& document, MediaType media);

}  // namespace berth::sandbox
