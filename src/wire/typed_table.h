#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/schema.h"

// How the typed codecs see a struct of api: a table of offsets and types. The codecs are plain functions over
// such tables, so that a hundred and eighty structs in two encodings cost tables and not code. Private to
// wire.
namespace berth::wire {

struct TypedTable;

// What one value is: an element, where the member is a list or a map.
enum class Form : std::uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kQuantity,
  kTime,
  kMicroTime,
  kRawJson,
  kMessage
};

enum class Holder : std::uint8_t { kPlain, kOptional, kList, kMap };

// The operations on one type of member. Those of a plain member are null; lists of bool have no addressable
// elements and are always std::vector<bool>.
struct MemberType {
  Holder holder;
  Form form;
  std::uint32_t element_size;
  const TypedTable& (*table)();  // null unless the form is kMessage

  // Room for one more value: the next element of a list; what an optional holds, made if absent; a fresh
  // value under `key` of a map, in place of an older one.
  void* (*slot)(void* member, std::string_view key);
  void (*clear)(void* member);
  std::size_t (*size)(const void* member);
  const void* (*element)(const void* member, std::size_t index);
  std::string_view (*key)(const void* member, std::size_t index);
};

struct TypedField {
  const Field* field;
  const MemberType* type;
  const TypedTable* table;  // of the nested message, or null
  std::size_t offset;

  void* In(void* object) const { return static_cast<std::byte*>(object) + offset; }
  const void* In(const void* object) const { return static_cast<const std::byte*>(object) + offset; }
};

struct TypedTable {
  // A key of the JSON object, and the inlined field that it reaches through (null: a direct field).
  struct JsonKey {
    std::string_view key;
    const TypedField* field;
    const TypedField* through;
  };

  const Message* message = nullptr;
  std::vector<TypedField> fields;             // by ascending number
  std::vector<std::int16_t> by_number;        // index into fields, or -1
  std::vector<JsonKey> json_keys;             // by length, then text
  std::vector<const TypedField*> json_order;  // as Go writes them

  const TypedField* ByNumber(std::uint32_t number) const {
    if (number >= by_number.size() || by_number[number] < 0) return nullptr;
    return &fields[static_cast<std::size_t>(by_number[number])];
  }
  const JsonKey* ByJsonKey(std::string_view key) const;
};

struct BoundMember {
  std::string_view name;
  const MemberType* type;
  std::size_t offset;
};

// Looks the members up in the schema. A binding that does not fit the schema is a bug and stops the program.
TypedTable MakeTable(std::string_view message, std::span<const BoundMember> members);

}  // namespace berth::wire
