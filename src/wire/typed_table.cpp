#include "wire/typed_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::wire {
namespace {

bool FormFits(const MemberType& type, const Field& field) {
  const auto is_message = [&](SpecialForm form) {
    return field.kind == ValueKind::kMessage && field.message->form == form;
  };
  switch (type.form) {
    case Form::kString:
      return field.kind == ValueKind::kString;
    case Form::kBool:
      return field.kind == ValueKind::kBool;
    case Form::kInt32:
      return field.kind == ValueKind::kInt32;
    case Form::kInt64:
      return field.kind == ValueKind::kInt64;
    case Form::kQuantity:
      return is_message(SpecialForm::kQuantity);
    case Form::kTime:
      return is_message(SpecialForm::kTime);
    case Form::kMicroTime:
      return is_message(SpecialForm::kMicroTime);
    case Form::kRawJson:
      return is_message(SpecialForm::kRawJson);
    case Form::kMessage:
      return is_message(SpecialForm::kNone);
  }
  return false;
}

bool HolderFits(Holder holder, Shape shape) {
  switch (holder) {
    case Holder::kPlain:
      return shape == Shape::kValue;
    case Holder::kOptional:
      return shape == Shape::kPointer;
    case Holder::kList:
      return shape == Shape::kList;
    case Holder::kMap:
      return shape == Shape::kMap;
  }
  return false;
}

const Field* FieldNamed(const Message& message, std::string_view name) {
  const auto it = std::ranges::find(message.fields, name, &Field::name);
  return it == message.fields.end() ? nullptr : &*it;
}

bool KeyLess(std::string_view a, std::string_view b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

void IndexJsonKeys(TypedTable& table) {
  for (const TypedField& field : table.fields) {
    if (!field.field->json_name.empty()) table.json_keys.push_back({field.field->json_name, &field, nullptr});
    if (!field.field->inlined) continue;
    for (const TypedTable::JsonKey& inner : field.table->json_keys) {
      table.json_keys.push_back({inner.key, inner.field, &field});
    }
  }
  std::ranges::sort(table.json_keys, KeyLess, &TypedTable::JsonKey::key);
}

}  // namespace

const TypedTable::JsonKey* TypedTable::ByJsonKey(std::string_view key) const {
  const auto it = std::ranges::lower_bound(json_keys, key, KeyLess, &JsonKey::key);
  return it != json_keys.end() && it->key == key ? &*it : nullptr;
}

TypedTable MakeTable(std::string_view message, std::span<const BoundMember> members) {
  TypedTable table;
  table.message = Schema::Get().FindMessage(message);
  BERTH_CHECK(table.message != nullptr);
  for (const BoundMember& member : members) {
    const Field* field = FieldNamed(*table.message, member.name);
    BERTH_CHECK(field != nullptr && FormFits(*member.type, *field) &&
                HolderFits(member.type->holder, field->shape));
    const TypedTable* nested = member.type->table == nullptr ? nullptr : &member.type->table();
    BERTH_CHECK(nested == nullptr || nested->message == field->message);
    table.fields.push_back({field, member.type, nested, member.offset});
  }
  std::ranges::sort(table.fields, {}, [](const TypedField& field) { return field.field->number; });

  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const std::size_t number = table.fields[i].field->number;
    table.by_number.resize(number + 1, -1);
    table.by_number[number] = static_cast<std::int16_t>(i);
  }
  IndexJsonKeys(table);
  for (const Field* field : table.message->json_output_order) {
    if (const TypedField* bound = table.ByNumber(field->number)) table.json_order.push_back(bound);
  }
  return table;
}

}  // namespace berth::wire
