#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "wire/proto_reader.h"
#include "wire/typed_budget.h"
#include "wire/typed_codec.h"

namespace berth::wire {
namespace {

struct Timestamp {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

bool IsVarint(Form form) { return form == Form::kBool || form == Form::kInt32 || form == Form::kInt64; }

// Decodes one object. Methods return false after noting an error; each level adds its step to the path while
// the calls unwind, so that a good object pays nothing for it. Nesting is bounded by the tables, which are
// not recursive.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : begin_(bytes.data()), budget_(bytes.size()) {}

  bool Message(void* object, const TypedTable& table, std::string_view bytes) {
    ProtoReader reader(bytes);
    ProtoField in;
    while (reader.Next(in)) {
      const TypedField* field = table.ByNumber(in.number);
      if (field != nullptr && !Member(field->In(object), *field, in)) return Within(field->field->name);
    }
    return Finish(reader);
  }

  base::Error TakeError() {
    std::string message;
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      if (!message.empty() && !step->starts_with('[')) message += '.';
      message += *step;
    }
    if (!message.empty()) message += ": ";
    return {message + error_};
  }

 private:
  bool Member(void* member, const TypedField& field, const ProtoField& in) {
    switch (field.type->holder) {
      case Holder::kPlain:
        return Value(member, field, in);
      case Holder::kOptional:
        return Value(field.type->slot(member, {}), field, in);
      case Holder::kList:
        return Element(member, field, in);
      case Holder::kMap:
        return Entry(member, field, in);
    }
    return false;
  }

  bool Element(void* member, const TypedField& field, const ProtoField& in) {
    if (IsVarint(field.type->form)) {
      if (in.wire == WireType::kVarint) return Append(member, field, in.varint);
      if (in.wire != WireType::kBytes) return WrongWire(in);
      ProtoReader packed(in.bytes);
      std::uint64_t value = 0;
      while (packed.NextVarint(value)) {
        if (!Append(member, field, value)) return false;
      }
      return Finish(packed);
    }
    if (!budget_.Take(field.type->element_size)) return Fail(kGrowthError);
    void* slot = field.type->slot(member, {});
    if (Value(slot, field, in)) return true;
    return Within('[' + std::to_string(field.type->size(member) - 1) + ']');
  }

  bool Append(void* member, const TypedField& field, std::uint64_t value) {
    if (!budget_.Take(field.type->element_size)) return Fail(kGrowthError);
    if (field.type->form == Form::kBool) {
      static_cast<std::vector<bool>*>(member)->push_back(value != 0);
    } else {
      Number(field.type->slot(member, {}), field.type->form, value);
    }
    return true;
  }

  bool Entry(void* member, const TypedField& field, const ProtoField& in) {
    if (in.wire != WireType::kBytes) return WrongWire(in);
    ProtoReader reader(in.bytes);
    ProtoField part;
    std::string_view key;
    ProtoField value;  // the last one counts
    while (reader.Next(part)) {
      if (part.number == 1) {
        if (part.wire != WireType::kBytes) return WrongWire(part);
        key = part.bytes;
      } else if (part.number == 2) {
        value = part;
      }
    }
    if (!Finish(reader)) return false;
    if (!budget_.Take(field.type->element_size)) return Fail(kGrowthError);
    void* slot = field.type->slot(member, key);
    if (value.number == 0 || Value(slot, field, value)) return true;
    return Within('[' + std::string(key) + ']');
  }

  static void Number(void* slot, Form form, std::uint64_t value) {
    switch (form) {
      case Form::kBool:
        *static_cast<bool*>(slot) = value != 0;
        return;
      case Form::kInt32:
        *static_cast<std::int32_t*>(slot) = static_cast<std::int32_t>(value);
        return;
      default:
        *static_cast<std::int64_t*>(slot) = static_cast<std::int64_t>(value);
        return;
    }
  }

  bool Value(void* slot, const TypedField& field, const ProtoField& in) {
    if (IsVarint(field.type->form)) {
      if (in.wire != WireType::kVarint) return WrongWire(in);
      Number(slot, field.type->form, in.varint);
      return true;
    }
    if (in.wire != WireType::kBytes) return WrongWire(in);
    switch (field.type->form) {
      case Form::kString:
        static_cast<std::string*>(slot)->assign(in.bytes);
        return true;
      case Form::kQuantity:
        return Quantity(*static_cast<api::Quantity*>(slot), in.bytes);
      case Form::kTime:
        return Time(*static_cast<api::Time*>(slot), in.bytes);
      case Form::kMicroTime:
        return MicroTime(*static_cast<api::MicroTime*>(slot), in.bytes);
      case Form::kRawJson:
        return OnlyField(in.bytes, static_cast<api::RawJson*>(slot)->text);
      default:
        return Message(slot, *field.table, in.bytes);
    }
  }

  // The messages with a string or bytes as field 1 and nothing else.
  bool OnlyField(std::string_view bytes, std::string& out) {
    std::string_view found;
    bool present = false;
    if (!OnlyField(bytes, found, present)) return false;
    if (present) out.assign(found);
    return true;
  }

  bool OnlyField(std::string_view bytes, std::string_view& found, bool& present) {
    ProtoReader reader(bytes);
    ProtoField part;
    while (reader.Next(part)) {
      if (part.number != 1) continue;
      if (part.wire != WireType::kBytes) return WrongWire(part);
      found = part.bytes;
      present = true;
    }
    return Finish(reader);
  }

  bool Quantity(api::Quantity& out, std::string_view bytes) {
    std::string_view text;
    bool present = false;
    if (!OnlyField(bytes, text, present)) return false;
    if (!present) return true;
    auto parsed = api::Quantity::Parse(text);
    if (!parsed) return Fail(std::string(api::Quantity::ParseErrorText(parsed.error())));
    out = *std::move(parsed);
    return true;
  }

  bool Stamp(std::string_view bytes, Timestamp& out) {
    ProtoReader reader(bytes);
    ProtoField part;
    while (reader.Next(part)) {
      if (part.number > 2) continue;
      if (part.wire != WireType::kVarint) return WrongWire(part);
      if (part.number == 1) out.seconds = static_cast<std::int64_t>(part.varint);
      if (part.number == 2) out.nanos = static_cast<std::int32_t>(part.varint);
    }
    return Finish(reader);
  }

  bool Time(api::Time& out, std::string_view bytes) {
    out = {};
    if (bytes.empty()) return true;
    Timestamp stamp;
    if (!Stamp(bytes, stamp)) return false;
    out.unix_seconds = stamp.seconds;
    return true;
  }

  bool MicroTime(api::MicroTime& out, std::string_view bytes) {
    out = {};
    if (bytes.empty()) return true;
    Timestamp stamp;
    if (!Stamp(bytes, stamp)) return false;
    std::int64_t micros = 0;
    if (__builtin_mul_overflow(stamp.seconds, std::int64_t{1'000'000}, &micros) ||
        __builtin_add_overflow(micros, std::int64_t{stamp.nanos / 1000}, &micros)) {
      micros = stamp.seconds < 0 ? std::numeric_limits<std::int64_t>::min()
                                 : std::numeric_limits<std::int64_t>::max();
    }
    out.unix_micros = micros;
    return true;
  }

  bool Finish(const ProtoReader& reader) {
    if (reader.ok()) return true;
    return Fail(std::string(reader.error()) + " at byte " + std::to_string(reader.position() - begin_));
  }

  bool WrongWire(const ProtoField& in) {
    return Fail("wrong wireType = " + std::to_string(static_cast<int>(in.wire)) + " at byte " +
                std::to_string(in.raw.data() - begin_));
  }

  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  bool Within(std::string_view step) {
    path_.emplace_back(step);
    return false;
  }

  const char* begin_;
  GrowthBudget budget_;
  std::string error_;
  std::vector<std::string> path_;  // innermost first
};

bool IsStamp(std::string_view bytes) {
  ProtoReader reader(bytes);
  ProtoField part;
  while (reader.Next(part)) {
    if (part.number <= 2 && part.wire != WireType::kVarint) return false;
  }
  return reader.ok();
}

}  // namespace

bool IsWellFormed(const TypedTable& table, std::string_view bytes) {
  ProtoReader reader(bytes);
  ProtoField in;
  while (reader.Next(in)) {
    const TypedField* field = table.ByNumber(in.number);
    if (field == nullptr) continue;
    const Form form = field->type->form;
    if (in.wire != (IsVarint(form) ? WireType::kVarint : WireType::kBytes)) return false;
    if (form == Form::kMessage && !IsWellFormed(*field->table, in.bytes)) return false;
    if ((form == Form::kTime || form == Form::kMicroTime) && !IsStamp(in.bytes)) return false;
  }
  return reader.ok();
}

std::optional<base::Error> DecodeProtobufInto(void* object, const TypedTable& table, std::string_view bytes) {
  Decoder decoder(bytes);
  if (decoder.Message(object, table, bytes)) return std::nullopt;
  return decoder.TakeError();
}

}  // namespace berth::wire
