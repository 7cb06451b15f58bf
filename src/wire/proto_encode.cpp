#include <cstdint>
#include <string>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "wire/proto_writer.h"
#include "wire/typed_codec.h"

// As Go's generated code writes it: values always, pointers when set, lists unpacked, maps in key order,
// fields in ascending order; all of it back to front (proto_writer.h).
namespace berth::wire {
namespace {

void WriteMessage(ProtoWriter& out, const void* object, const TypedTable& table);

void WriteStamp(ProtoWriter& out, std::int64_t seconds, std::int64_t nanos) {
  out.VarintField(2, static_cast<std::uint64_t>(nanos));
  out.VarintField(1, static_cast<std::uint64_t>(seconds));
}

void WriteMicroTime(ProtoWriter& out, api::MicroTime time) {
  if (time.IsZero()) return;
  std::int64_t seconds = time.unix_micros / 1'000'000;
  std::int64_t micros = time.unix_micros % 1'000'000;
  if (micros < 0) {
    --seconds;
    micros += 1'000'000;
  }
  WriteStamp(out, seconds, micros * 1000);
}

// The payload of a length-delimited value.
void WritePayload(ProtoWriter& out, const void* value, const TypedField& field) {
  switch (field.type->form) {
    case Form::kString:
      return out.Bytes(*static_cast<const std::string*>(value));
    case Form::kQuantity:
      return out.BytesField(1, static_cast<const api::Quantity*>(value)->ToString());
    case Form::kTime: {
      const auto time = *static_cast<const api::Time*>(value);
      if (!time.IsZero()) WriteStamp(out, time.unix_seconds, 0);
      return;
    }
    case Form::kMicroTime:
      return WriteMicroTime(out, *static_cast<const api::MicroTime*>(value));
    case Form::kRawJson: {
      const std::string& text = static_cast<const api::RawJson*>(value)->text;
      if (!text.empty()) out.BytesField(1, text);
      return;
    }
    default:
      return WriteMessage(out, value, *field.table);
  }
}

void WriteValue(ProtoWriter& out, std::uint32_t number, const void* value, const TypedField& field) {
  switch (field.type->form) {
    case Form::kBool:
      return out.VarintField(number, *static_cast<const bool*>(value) ? 1 : 0);
    case Form::kInt32:  // sign-extended: a negative number takes ten bytes
      return out.VarintField(number, static_cast<std::uint64_t>(*static_cast<const std::int32_t*>(value)));
    case Form::kInt64:
      return out.VarintField(number, static_cast<std::uint64_t>(*static_cast<const std::int64_t*>(value)));
    default: {
      const std::size_t mark = out.size();
      WritePayload(out, value, field);
      return out.Prefix(number, out.size() - mark);
    }
  }
}

void WriteMember(ProtoWriter& out, const void* member, const TypedField& field) {
  const std::uint32_t number = field.field->number;
  const MemberType& type = *field.type;
  if (type.holder == Holder::kPlain) return WriteValue(out, number, member, field);
  if (type.holder == Holder::kList && type.form == Form::kBool) {
    const auto& bools = *static_cast<const std::vector<bool>*>(member);
    for (auto it = bools.rbegin(); it != bools.rend(); ++it) out.VarintField(number, *it ? 1 : 0);
    return;
  }
  for (std::size_t i = type.size(member); i-- > 0;) {
    if (type.holder != Holder::kMap) {
      WriteValue(out, number, type.element(member, i), field);
      continue;
    }
    const std::size_t mark = out.size();
    WriteValue(out, 2, type.element(member, i), field);
    out.BytesField(1, type.key(member, i));
    out.Prefix(number, out.size() - mark);
  }
}

void WriteMessage(ProtoWriter& out, const void* object, const TypedTable& table) {
  for (auto field = table.fields.rbegin(); field != table.fields.rend(); ++field) {
    WriteMember(out, field->In(object), *field);
  }
}

}  // namespace

std::string EncodeProtobufFrom(const void* object, const TypedTable& table) {
  ProtoWriter out;
  WriteMessage(out, object, table);
  return out.Take();
}

}  // namespace berth::wire
