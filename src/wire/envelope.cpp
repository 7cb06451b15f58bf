#include "wire/envelope.h"

#include "wire/proto_reader.h"
#include "wire/proto_writer.h"

namespace berth::wire {
namespace {

// Field numbers of runtime.Unknown and of the runtime.TypeMeta in it.
enum UnknownField : std::uint32_t { kTypeMeta = 1, kRaw = 2, kContentEncoding = 3, kContentType = 4 };
enum TypeMetaField : std::uint32_t { kApiVersion = 1, kKind = 2 };

// The bytes of fields 1 and 2, which are all that both messages are read for. Later occurrences win.
base::Result<void> ReadFirstTwo(std::string_view message, std::string_view& first, std::string_view& second) {
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (field.number > 2) continue;
    if (field.wire != WireType::kBytes) return base::Fail("malformed protobuf: wrong wire type");
    (field.number == 1 ? first : second) = field.bytes;
  }
  if (!reader.ok()) return base::Fail(std::string("malformed protobuf: ") + reader.error());
  return {};
}

}  // namespace

base::Result<Envelope> ParseEnvelope(std::string_view body) {
  if (body.empty()) return base::Fail("empty data");
  if (!body.starts_with(kEnvelopeMagic)) {
    return base::Fail(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  if (body.size() == kEnvelopeMagic.size()) return base::Fail("empty body");
  Envelope envelope;
  std::string_view type_meta;
  if (auto read = ReadFirstTwo(body.substr(kEnvelopeMagic.size()), type_meta, envelope.raw); !read) {
    return std::unexpected(std::move(read.error()));
  }
  if (auto read = ReadFirstTwo(type_meta, envelope.api_version, envelope.kind); !read) {
    return std::unexpected(std::move(read.error()));
  }
  return envelope;
}

std::string WriteEnvelope(const Envelope& envelope) {
  ProtoWriter writer;  // from the last byte to the first
  writer.BytesField(kContentType, {});
  writer.BytesField(kContentEncoding, {});
  writer.BytesField(kRaw, envelope.raw);
  const std::size_t before = writer.size();
  writer.BytesField(kKind, envelope.kind);
  writer.BytesField(kApiVersion, envelope.api_version);
  writer.Prefix(kTypeMeta, writer.size() - before);
  writer.Bytes(kEnvelopeMagic);
  return writer.Take();
}

}  // namespace berth::wire
