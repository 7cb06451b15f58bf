#include "wire/codec.h"

#include <boost/json.hpp>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/schema.h"
#include "wire/transcode.h"
#include "wire/typed_codec.h"
#include "wire/yaml.h"

namespace berth::wire {
namespace {

// All that lenient reading passes over: what is in the document besides what the struct has, judged by the
// schema.
std::optional<base::Error> CheckStrictly(const Message& message, std::string_view text) {
  StrictErrors strict;
  const auto document = ParseJson(text, {.message = &message, .strict = &strict});
  if (!document) return document.error();
  if (const boost::json::object* members = document->if_object()) {
    const auto types = DocumentToProtobuf(message, *members);
    if (!types) return types.error();
  }
  if (!strict.empty()) return base::Error{strict.ToString()};
  return std::nullopt;
}

}  // namespace

std::optional<base::Error> DecodeJsonInto(void* object, const TypedTable& table, std::string_view text,
                                          Strictness strictness) {
  auto error = DecodeLenientJsonInto(object, table, text);
  if (!error && strictness == Strictness::kStrict) error = CheckStrictly(*table.message, text);
  return error;
}

std::optional<base::Error> DecodeYamlInto(void* object, const TypedTable& table, std::string_view text,
                                          Strictness strictness) {
  const auto json = YamlToJson(text, {.unique_keys = strictness == Strictness::kStrict});
  if (!json) return json.error();
  return DecodeJsonInto(object, table, *json, strictness);
}

ObjectKind KindOfMessage(const Message& message) {
  const KindInfo* found = nullptr;
  for (const KindInfo& info : Schema::Get().kinds()) {
    // DeleteOptions exist in every group; v1 is understood everywhere.
    if (info.message == &message && (found == nullptr || info.api_version == "v1")) found = &info;
  }
  BERTH_CHECK(found != nullptr);
  return {found->api_version, found->kind};
}

}  // namespace berth::wire
