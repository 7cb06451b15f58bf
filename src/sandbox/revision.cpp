#include "sandbox/revision.h"

#include <boost/json.hpp>
#include <charconv>

#include "base/check.h"
#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/transcode.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string_view TextOfSteps(const json::object& document, const std::vector<std::string_view>& steps,
                             const json::value** found) {
  const json::object* object = &document;
  const json::value* value = nullptr;
  for (const std::string_view step : steps) {
    value = object != nullptr ? object->if_contains(step) : nullptr;
    if (value == nullptr) break;
    object = value->if_object();
  }
  *found = value;
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? ViewOf(*text) : std::string_view();
}

std::string FieldText(const json::object& document, const SelectableField& field) {
  const json::value* value = nullptr;
  const std::string_view text = TextOfSteps(document, field.path, &value);
  if (field.is_flag) {
    const bool* flag = value != nullptr ? value->if_bool() : nullptr;
    return flag != nullptr && *flag ? "true" : "false";
  }
  if (text.empty() && !field.fallback.empty()) {
    return std::string(TextOfSteps(document, field.fallback, &value));
  }
  return std::string(text);
}

json::object WithKind(const Resource& resource, json::object fields) {
  json::object document;
  document.reserve(fields.size() + 2);
  document["kind"] = resource.kind;
  document["apiVersion"] = resource.api_version;
  for (json::key_value_pair& member : fields) {
    document.insert_or_assign(member.key(), std::move(member.value()));
  }
  return document;
}

}  // namespace

std::string ObjectKey(const Resource& resource, std::string_view namespace_name, std::string_view name) {
  std::string key;
  if (resource.namespaced) key.append(namespace_name).append("/");
  key.append(name);
  return key;
}

std::optional<std::uint64_t> ParseVersion(std::string_view text) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return version;
}

base::Result<RevisionPtr> Revision::Make(const Resource& resource, const json::object& document) {
  base::Result<std::string> bytes = wire::DocumentToProtobuf(*resource.message, document);
  if (!bytes) return base::Fail(std::move(bytes.error().message));
  std::shared_ptr<Revision> revision(new Revision(resource));
  const std::string_view name = TextAt(document, {"metadata", "name"});
  revision->key_ = ObjectKey(resource, TextAt(document, {"metadata", "namespace"}), name);
  revision->name_size_ = name.size();
  revision->uid_ = TextAt(document, {"metadata", "uid"});
  revision->version_ = ParseVersion(TextAt(document, {"metadata", "resourceVersion"})).value_or(0);
  if (const json::object* labels = FindObject(document, {"metadata", "labels"})) {
    for (const json::key_value_pair& label : *labels) {
      const json::string* value = label.value().if_string();
      revision->labels_.insert_or_assign(std::string(label.key()),
                                         value != nullptr ? std::string(ViewOf(*value)) : std::string());
    }
  }
  if (const json::array* owners = FindArray(document, {"metadata", "ownerReferences"})) {
    for (const json::value& owner : *owners) {
      if (!owner.is_object()) continue;
      revision->owners_.push_back(
          {std::string(TextAt(owner.get_object(), {"uid"})), FlagAt(owner.get_object(), {"controller"})});
    }
  }
  const json::value* deletion = FindValue(document, {"metadata", "deletionTimestamp"});
  revision->is_terminating_ = deletion != nullptr && !deletion->is_null();
  revision->fields_.reserve(resource.fields.size());
  for (const SelectableField& field : resource.fields) {
    revision->fields_.push_back(FieldText(document, field));
  }
  revision->protobuf_ = std::move(*bytes);
  revision->protobuf_.shrink_to_fit();
  return revision;
}

std::string_view Revision::controller_uid() const {
  for (const Owner& owner : owners_) {
    if (owner.is_controller) return owner.uid;
  }
  return {};
}

const net::Buffer& Revision::json() const {
  if (json_ == nullptr) {
    std::string text = wire::WriteJson(Document());
    text.shrink_to_fit();
    json_ = net::MakeBuffer(std::move(text));
  }
  return json_;
}

json::object Revision::Document() const {
  base::Result<json::object> fields = wire::ProtobufToDocument(*resource_.message, protobuf_);
  BERTH_CHECK(fields.has_value());  // the bytes are our own
  return WithKind(resource_, std::move(*fields));
}

RevisionPtr Revision::WithVersion(std::uint64_t version) const {
  json::object document = Document();
  ObjectAt(document, {"metadata"})["resourceVersion"] = std::to_string(version);
  base::Result<RevisionPtr> revision = Make(resource_, document);
  BERTH_CHECK(revision.has_value());
  return std::move(*revision);
}

base::Result<json::object> Normalize(const Resource& resource, const json::object& document) {
  const base::Result<std::string> bytes = wire::DocumentToProtobuf(*resource.message, document);
  if (!bytes) return base::Fail(bytes.error().message);
  base::Result<json::object> fields = wire::ProtobufToDocument(*resource.message, *bytes);
  if (!fields) return base::Fail(std::move(fields.error().message));
  return WithKind(resource, std::move(*fields));
}

}  // namespace berth::sandbox
