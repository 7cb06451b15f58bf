#include <fmt/format.h>
#include <iterator>
#include <string>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "wire/json_text.h"
#include "wire/typed_codec.h"

// As Go's encoder writes it: keys in the order of declaration, empty values left out where the schema says
// so.
namespace berth::wire {
namespace {

class Encoder {
 public:
  void Object(const void* object, const TypedTable& table) {
    out_ += '{';
    bool first = true;
    Members(object, table, first);
    out_ += '}';
  }

  std::string Take() { return std::move(out_); }

 private:
  void Members(const void* object, const TypedTable& table, bool& first) {
    for (const TypedField* field : table.json_order) {
      const void* member = field->In(object);
      if (field->field->inlined) {
        Members(member, *field->table, first);
        continue;
      }
      if (field->field->omit_empty && IsEmpty(member, *field)) continue;
      if (!first) out_ += ',';
      first = false;
      AppendJsonString(out_, field->field->json_name);
      out_ += ':';
      Member(member, *field);
    }
  }

  static bool IsEmpty(const void* member, const TypedField& field) {
    if (field.type->holder != Holder::kPlain) return field.type->size(member) == 0;
    switch (field.type->form) {
      case Form::kString:
        return static_cast<const std::string*>(member)->empty();
      case Form::kBool:
        return !*static_cast<const bool*>(member);
      case Form::kInt32:
        return *static_cast<const std::int32_t*>(member) == 0;
      case Form::kInt64:
        return *static_cast<const std::int64_t*>(member) == 0;
      case Form::kTime:
        return static_cast<const api::Time*>(member)->IsZero();
      default:  // Go never takes a struct for empty
        return false;
    }
  }

  void Member(const void* member, const TypedField& field) {
    const MemberType& type = *field.type;
    switch (type.holder) {
      case Holder::kPlain:
        return Value(member, field);
      case Holder::kOptional:
        if (type.size(member) == 0) return Null();
        return Value(type.element(member, 0), field);
      case Holder::kList:
        return List(member, field);
      case Holder::kMap:
        return Map(member, field);
    }
  }

  void List(const void* member, const TypedField& field) {
    const std::size_t size = field.type->size(member);
    if (size == 0) return Null();
    out_ += '[';
    for (std::size_t i = 0; i < size; ++i) {
      if (i > 0) out_ += ',';
      if (field.type->form == Form::kBool) {
        Bool((*static_cast<const std::vector<bool>*>(member))[i]);
      } else {
        Value(field.type->element(member, i), field);
      }
    }
    out_ += ']';
  }

  void Map(const void* member, const TypedField& field) {
    const std::size_t size = field.type->size(member);
    if (size == 0) return Null();
    out_ += '{';
    for (std::size_t i = 0; i < size; ++i) {
      if (i > 0) out_ += ',';
      AppendJsonString(out_, field.type->key(member, i));
      out_ += ':';
      Value(field.type->element(member, i), field);
    }
    out_ += '}';
  }

  void Value(const void* value, const TypedField& field) {
    switch (field.type->form) {
      case Form::kString:
        return AppendJsonString(out_, *static_cast<const std::string*>(value));
      case Form::kBool:
        return Bool(*static_cast<const bool*>(value));
      case Form::kInt32:
        return Number(*static_cast<const std::int32_t*>(value));
      case Form::kInt64:
        return Number(*static_cast<const std::int64_t*>(value));
      case Form::kQuantity:
        return AppendJsonString(out_, static_cast<const api::Quantity*>(value)->ToString());
      case Form::kTime: {
        const auto time = *static_cast<const api::Time*>(value);
        return time.IsZero() ? Null() : AppendJsonString(out_, api::FormatTime(time));
      }
      case Form::kMicroTime: {
        const auto time = *static_cast<const api::MicroTime*>(value);
        return time.IsZero() ? Null() : AppendJsonString(out_, api::FormatMicroTime(time));
      }
      case Form::kRawJson:
        // Text that is no JSON cannot stand in a JSON document.
        out_ += CompactJson(static_cast<const api::RawJson*>(value)->text).value_or("null");
        return;
      case Form::kMessage:
        return Object(value, *field.table);
    }
  }

  void Null() { out_ += "null"; }
  void Bool(bool value) { out_ += value ? "true" : "false"; }
  void Number(std::int64_t value) { fmt::format_to(std::back_inserter(out_), "{}", value); }

  std::string out_;
};

}  // namespace

std::string EncodeJsonFrom(const void* object, const TypedTable& table) {
  Encoder encoder;
  encoder.Object(object, table);
  return encoder.Take();
}

}  // namespace berth::wire
