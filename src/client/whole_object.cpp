#include "client/whole_object.h"

#include <boost/json.hpp>
#include <string_view>
#include <variant>

#include "wire/codec.h"
#include "wire/json_document.h"
#include "wire/proto_reader.h"

namespace berth::client {
namespace {

namespace json = boost::json;

// Of every list that Kubernetes serves.
constexpr std::uint32_t kListMetaField = 1;
constexpr std::uint32_t kItemsField = 2;

class WholeReader final : public ObjectReader {
 public:
  explicit WholeReader(std::unique_ptr<ObjectReader> reader) : reader_(std::move(reader)) {}

  base::Result<ReadObject> Read(Encoding encoding, std::string_view bytes) override {
    auto read = reader_->Read(encoding, bytes);
    if (!read) return read;
    std::visit(
        [&](auto& object) {
          object = WithWhole(std::move(object), {.encoding = encoding, .bytes = std::string(bytes)});
        },
        read->object);
    return read;
  }

  // Item by item, since a reader of whole lists does not say where one ends.
  base::Result<api::ListMeta> ReadList(Encoding encoding, std::string_view bytes, const Sink& sink) override {
    return encoding == Encoding::kProtobuf ? ReadProtobufList(bytes, sink) : ReadJsonList(bytes, sink);
  }

 private:
  base::Result<void> ReadItem(Encoding encoding, std::string_view bytes, const Sink& sink) {
    auto item = Read(encoding, bytes);
    if (!item) return std::unexpected(std::move(item.error()));
    sink(*std::move(item));
    return {};
  }

  base::Result<api::ListMeta> ReadProtobufList(std::string_view bytes, const Sink& sink) {
    std::string_view meta;
    wire::ProtoReader reader(bytes);
    for (wire::ProtoField field; reader.Next(field);) {
      if (field.wire != wire::WireType::kBytes) continue;
      if (field.number == kListMetaField) meta = field.bytes;
      if (field.number != kItemsField) continue;
      if (auto read = ReadItem(Encoding::kProtobuf, field.bytes, sink); !read) {
        return std::unexpected(std::move(read.error()));
      }
    }
    if (!reader.ok()) return base::Fail(reader.error());
    return wire::DecodeProtobuf<api::ListMeta>(meta);
  }

  base::Result<api::ListMeta> ReadJsonList(std::string_view text, const Sink& sink) {
    auto document = wire::ParseJson(text);
    if (!document) return std::unexpected(std::move(document.error()));
    const json::object* const list = document->if_object();
    if (list == nullptr) return base::Fail("a list is no object");
    if (const json::value* const items = list->if_contains("items"); items != nullptr && items->is_array()) {
      for (const json::value& item : items->get_array()) {
        if (auto read = ReadItem(Encoding::kJson, wire::WriteJson(item), sink); !read) {
          return std::unexpected(std::move(read.error()));
        }
      }
    }
    const json::value* const meta = list->if_contains("metadata");
    return wire::DecodeJson<api::ListMeta>(meta == nullptr ? "{}" : wire::WriteJson(*meta));
  }

  std::unique_ptr<ObjectReader> reader_;
};

}  // namespace

std::unique_ptr<ObjectReader> MakeWholeReader(std::unique_ptr<ObjectReader> reader) {
  return std::make_unique<WholeReader>(std::move(reader));
}

}  // namespace berth::client
