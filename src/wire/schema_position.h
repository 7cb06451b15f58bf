#pragma once

#include <optional>
#include <string_view>

#include "wire/schema.h"

namespace berth::wire {

// What the schema says about one place in a JSON document: a message, a list or map whose elements a field
// describes, or neither (scalars, and whatever stands under keys that the schema does not know or does not
// look into).
struct SchemaPosition {
  const Message* message = nullptr;
  const Field* elements = nullptr;

  static SchemaPosition Of(const Field& field) {
    if (field.shape == Shape::kList || field.shape == Shape::kMap) return {nullptr, &field};
    return {field.message, nullptr};
  }

  bool IsMessage() const { return message != nullptr && message->form == SpecialForm::kNone; }
  bool IsMap() const { return elements != nullptr && elements->shape == Shape::kMap; }
  bool IsQuantity() const { return message != nullptr && message->form == SpecialForm::kQuantity; }

  // An element of the list or a value of the map.
  SchemaPosition Element() const {
    return elements == nullptr ? SchemaPosition{} : SchemaPosition{elements->message, nullptr};
  }

  // The value of a key; nothing for a key that a message does not have.
  std::optional<SchemaPosition> Member(std::string_view key) const {
    if (!IsMessage()) return Element();
    if (const Message::JsonKey* known = message->ByJsonKey(key)) return Of(*known->field);
    if (message->has_type_meta && (key == "kind" || key == "apiVersion")) return SchemaPosition{};
    return std::nullopt;
  }
};

}  // namespace berth::wire
