// Enveloped protobuf, or JSON text if it starts with a brace. What can be decoded must mean the same after it
// was encoded again.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace {

using berth::wire::DocumentToEnvelope;
using berth::wire::EnvelopeToDocument;
using berth::wire::ParseJson;
using berth::wire::WriteJson;

void RoundTrip(const boost::json::object& document) {
  const auto bytes = DocumentToEnvelope(document);
  if (!bytes) return;  // a time that can be printed but not parsed, or text of the wrong shape
  const auto again = EnvelopeToDocument(*bytes);
  if (!again) return;  // a time that can be parsed but not printed
  const auto bytes_again = DocumentToEnvelope(*again);
  if (bytes_again) BERTH_CHECK(*EnvelopeToDocument(*bytes_again) == *again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (!input.starts_with('{')) {
    if (const auto document = EnvelopeToDocument(input)) RoundTrip(*document);
    return 0;
  }
  berth::wire::StrictErrors strict;
  const auto* pod = berth::wire::Schema::Get().FindMessage("core.v1.Pod");
  const auto value = ParseJson(input, {.message = pod, .strict = &strict});
  if (!value) return 0;
  const std::string text = WriteJson(*value);
  BERTH_CHECK(WriteJson(*ParseJson(text)) == text);
  RoundTrip(value->as_object());
  return 0;
}
