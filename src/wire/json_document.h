#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/limits.h"

namespace berth::wire {

struct Message;
class StrictErrors;

struct JsonOptions {
  // What the text is said to be; null: anything.
  const Message* message = nullptr;
  // Where unknown and duplicate keys are reported, as strict field validation of the API does; null: they are
  // not looked for. Needs `message`. Nothing is reported from within values that the schema does not look
  // into.
  StrictErrors* strict = nullptr;
  std::size_t bytes_max = kDocumentBytesMax;
};

// One JSON value and nothing behind it. The last of several equal keys wins. Bytes that are no UTF-8 become
// U+FFFD, as Go reads them. A number in the place of a quantity becomes the string of its digits, so that
// none of them is lost; elsewhere a number beyond 64 bits becomes a double. Errors name the offset.
base::Result<boost::json::value> ParseJson(std::string_view text, const JsonOptions& options = {});

// Go's encoder also escapes the characters that matter in HTML, unless told otherwise.
enum class JsonEscapes : std::uint8_t { kHtml, kPlain };

// As Go's encoder prints it: no white space, keys in the order of the document, its escapes and forms of
// numbers.
void AppendJson(std::string& out, const boost::json::value& value, JsonEscapes escapes = JsonEscapes::kHtml);
std::string WriteJson(const boost::json::value& value, JsonEscapes escapes = JsonEscapes::kHtml);

// Reports the unknown keys of a document that was not read from text, such as the result of a patch.
void FindUnknownFields(const Message& message, const boost::json::value& document, StrictErrors& strict);

}  // namespace berth::wire
