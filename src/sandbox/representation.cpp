#include "sandbox/representation.h"

#include <boost/json.hpp>

#include "base/check.h"
#include "sandbox/event_forms.h"
#include "wire/envelope.h"
#include "wire/json_document.h"
#include "wire/proto_writer.h"
#include "wire/schema.h"
#include "wire/transcode.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

bool IsStoredForm(const Resource& served) { return served.storage == &served; }

std::string MessageBytes(const wire::Message& message, const json::object& document) {
  base::Result<std::string> bytes = wire::DocumentToProtobuf(message, document);
  BERTH_CHECK(bytes.has_value());  // made from what was stored
  return std::move(*bytes);
}

std::string ObjectBytes(const Resource& served, const Revision& object) {
  if (IsStoredForm(served)) return object.protobuf();
  return MessageBytes(*served.message, ServedDocument(served, object));
}

}  // namespace

json::object ServedDocument(const Resource& served, const Revision& object) {
  json::object document = object.Document();
  return IsStoredForm(served) ? document : ToGroupedEvent(document);
}

json::object StoredForm(const Resource& served, json::object document) {
  return IsStoredForm(served) ? document : ToCoreEvent(document);
}

net::Buffer ObjectJson(const Resource& served, const Revision& object) {
  if (IsStoredForm(served)) return object.json();
  return net::MakeBuffer(wire::WriteJson(ServedDocument(served, object)));
}

std::string ObjectEnvelope(const Resource& served, const Revision& object) {
  if (IsStoredForm(served)) return wire::WriteEnvelope({served.api_version, served.kind, object.protobuf()});
  const std::string bytes = ObjectBytes(served, object);
  return wire::WriteEnvelope({served.api_version, served.kind, bytes});
}

json::object ListMetadata(const ListHead& head) {
  json::object metadata;
  if (head.version != 0) metadata["resourceVersion"] = std::to_string(head.version);
  if (!head.continue_token.empty()) metadata["continue"] = head.continue_token;
  if (head.remaining) metadata["remainingItemCount"] = *head.remaining;
  return metadata;
}

std::string ListJson(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head) {
  std::string text = "{\"kind\":\"" + served.list_kind() + "\",\"apiVersion\":\"" + served.api_version +
                     "\",\"metadata\":" + wire::WriteJson(ListMetadata(head)) + ",\"items\":[";
  for (const RevisionPtr& item : items) {
    // Items of a list do not repeat their kind.
    const net::Buffer object = ObjectJson(served, *item);
    BERTH_DCHECK(object->starts_with(served.json_head));
    if (text.back() != '[') text += ',';
    text += '{';
    text.append(*object, served.json_head.size());
  }
  text += "]}";
  return text;
}

std::string ListEnvelope(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head) {
  wire::ProtoWriter writer;  // from the end to the beginning
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (IsStoredForm(served)) {
      writer.BytesField(2, (*item)->protobuf());
    } else {
      writer.BytesField(2, ObjectBytes(served, **item));
    }
  }
  const wire::Message* list_meta = wire::Schema::Get().FindMessage("meta.v1.ListMeta");
  writer.BytesField(1, MessageBytes(*list_meta, ListMetadata(head)));
  const std::string bytes = writer.Take();
  const std::string kind = served.list_kind();
  return wire::WriteEnvelope({served.api_version, kind, bytes});
}

}  // namespace berth::sandbox
