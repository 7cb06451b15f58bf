#include "bench/object_template.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/files.h"
#include "bench/field_reader.h"
#include "bench/workload_file.h"
#include "net/http_message.h"
#include "wire/json_document.h"
#include "wire/schema.h"
#include "wire/schema_position.h"
#include "wire/yaml.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// The key as the message has it; empty if it has none like that.
std::string_view KnownKey(const wire::Message& message, std::string_view key) {
  if (const auto* const exact = message.ByJsonKey(key)) return exact->key;
  if (message.has_type_meta &&
      (net::EqualsIgnoringCase(key, "kind") || net::EqualsIgnoringCase(key, "apiVersion")))
    return key;
  const auto found = std::ranges::find_if(message.json_keys, [&](const wire::Message::JsonKey& known) {
    return net::EqualsIgnoringCase(known.key, key);
  });
  return found == message.json_keys.end() ? std::string_view() : found->key;
}

bool IsText(const wire::Field& field) {
  return field.kind == wire::ValueKind::kString && field.message == nullptr;
}

base::Result<void> Decode(wire::SchemaPosition position, const wire::Field* field, json::value& value);

base::Result<void> DecodeMembers(const wire::Message& message, json::object& object) {
  json::object decoded;
  for (auto& member : object) {
    const std::string_view key = KnownKey(message, member.key());
    if (key.empty()) return base::Fail(fmt::format("unknown field \"{}\"", std::string_view(member.key())));
    const wire::Message::JsonKey* const known = message.ByJsonKey(key);
    if (known != nullptr) {
      auto read = Decode(wire::SchemaPosition::Of(*known->field), known->field, member.value());
      if (!read) return base::Fail(fmt::format("{}: {}", key, read.error().message));
    }
    decoded[key] = std::move(member.value());
  }
  object = std::move(decoded);
  return {};
}

base::Result<void> Decode(wire::SchemaPosition position, const wire::Field* field, json::value& value) {
  if (position.IsMessage() && value.is_object()) return DecodeMembers(*position.message, value.as_object());
  if (position.elements != nullptr) {
    if (value.is_array()) {
      for (json::value& one : value.as_array()) {
        if (auto read = Decode(position.Element(), field, one); !read) return read;
      }
    } else if (value.is_object()) {
      for (auto& member : value.as_object()) {
        if (auto read = Decode(position.Element(), field, member.value()); !read) return read;
      }
    }
    return {};
  }
  if (field != nullptr && IsText(*field) && (value.is_number() || value.is_bool())) value = *TextOf(value);
  return {};
}

}  // namespace

base::Result<void> DecodeStrictly(const wire::Message& kind, json::object& document) {
  return DecodeMembers(kind, document);
}

base::Result<ObjectTemplate> ObjectTemplate::Parse(std::string_view text, const wire::Message* kind,
                                                   bool expands) {
  ObjectTemplate made;
  made.kind_ = kind;
  if (expands) {
    auto parsed = TextTemplate::Parse(text);
    if (!parsed) return std::unexpected(std::move(parsed.error()));
    if (!parsed->is_plain()) {
      made.template_ = *std::move(parsed);
      return made;
    }
  }
  auto document = made.Decode(text);
  if (!document) return std::unexpected(std::move(document.error()));
  made.document_ = *std::move(document);
  return made;
}

base::Result<ObjectTemplate> ObjectTemplate::Load(const std::filesystem::path& path,
                                                  const wire::Message* kind, bool expands) {
  const auto text = base::ReadFile(path);
  if (!text) return std::unexpected(text.error());
  auto made = Parse(*text, kind, expands);
  if (!made) return base::Fail(fmt::format("{}: {}", path.string(), made.error().message));
  made->name_ = path.string();
  return made;
}

base::Result<json::object> ObjectTemplate::Make(const json::object& data) const {
  if (!template_) return document_;
  const auto text = template_->Execute(data);
  if (!text) return base::Fail(fmt::format("{}: {}", name_, text.error().message));
  auto document = Decode(*text);
  if (!document) return base::Fail(fmt::format("{}: {}", name_, document.error().message));
  return document;
}

base::Result<json::object> ObjectTemplate::Decode(std::string_view text) const {
  const auto as_json = wire::YamlToJson(text, {.unique_keys = true});
  if (!as_json) return std::unexpected(as_json.error());
  auto value = wire::ParseJson(*as_json);
  if (!value) return std::unexpected(std::move(value.error()));
  if (!value->is_object()) return base::Fail("expected an object");
  if (kind_ != nullptr) {
    if (auto decoded = DecodeStrictly(*kind_, value->as_object()); !decoded) {
      return std::unexpected(std::move(decoded.error()));
    }
  }
  return std::move(value->as_object());
}

}  // namespace berth::bench
