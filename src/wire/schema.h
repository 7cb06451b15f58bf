#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::wire {

struct Message;

// How a value looks on the wire.
enum class ValueKind : std::uint8_t { kString, kBytes, kBool, kInt32, kInt64, kDouble, kMessage };

// How Go holds a field, which decides what "absent" means: a pointer may be absent, present and empty, or
// set; a value is always there; lists and maps do not tell absent from empty.
enum class Shape : std::uint8_t { kValue, kPointer, kList, kMap };

// Messages whose JSON form is not an object with the message's fields.
enum class SpecialForm : std::uint8_t {
  kNone,
  kTime,         // "2006-01-02T15:04:05Z" or null
  kMicroTime,    // the same with six digits of fraction
  kQuantity,     // string or number
  kIntOrString,  // number or string
  kRawJson,      // RawExtension and FieldsV1: any JSON value, carried as text
  kStringList,   // a named list type: {items = 1} in protobuf, an array in JSON
};

// How strategic merge patch treats a list or an object.
struct PatchRule {
  bool merge = false;
  bool retain_keys = false;
  bool replace = false;        // an object that is replaced, not merged
  std::string_view merge_key;  // empty: scalars merge as a set
};

struct Field {
  std::string_view name;       // protobuf name
  std::string_view json_name;  // empty: the field has no JSON key of its own
  std::uint32_t number = 0;
  ValueKind kind = ValueKind::kString;  // of the element, for lists and map values
  Shape shape = Shape::kValue;
  bool inlined = false;              // its fields appear in the parent's JSON object
  bool omit_empty = false;           // an empty value has no JSON key
  bool used = false;                 // the scheduler reads or writes it
  const Message* message = nullptr;  // for kMessage
  PatchRule patch;
};

struct Message {
  std::string_view name;  // "core.v1.Pod"
  SpecialForm form = SpecialForm::kNone;
  bool has_type_meta =
      false;  // its JSON object may carry kind and apiVersion; protobuf has them in the envelope
  std::vector<Field> fields;  // by ascending number

  // A key of the message's JSON object, and the inlined field that it reaches through (null: a direct field).
  struct JsonKey {
    std::string_view key;
    const Field* field;
    const Field* through;
  };
  std::vector<JsonKey> json_keys;               // sorted by key
  std::vector<const Field*> json_output_order;  // direct fields, in Go's order of declaration

  const Field* ByNumber(std::uint32_t number) const;
  const JsonKey* ByJsonKey(std::string_view key) const;
};

// A kind that an API server serves.
struct KindInfo {
  std::string_view api_version;  // "apps/v1", "v1"
  std::string_view kind;         // "ReplicaSet", "PodList"
  const Message* message = nullptr;
};

// Every message and field that berth knows (fields.tsv, compiled in). Typed decoders and the transcoder are
// both driven by it, so that they cannot drift apart. Built on first use, immutable afterwards, safe from any
// thread.
class Schema {
 public:
  static const Schema& Get();

  const Message* FindMessage(std::string_view name) const;
  const KindInfo* FindKind(std::string_view api_version, std::string_view kind) const;
  std::span<const Message> messages() const { return messages_; }
  std::span<const KindInfo> kinds() const { return kinds_; }

 private:
  Schema();
  void AddKinds();

  std::vector<Message> messages_;  // sorted by name
  std::vector<KindInfo> kinds_;    // sorted by (api_version, kind)
};

}  // namespace berth::wire
