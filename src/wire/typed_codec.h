#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/codec.h"
#include "wire/typed_members.h"

// The table-driven codecs behind codec.h, and what a codec_*.cpp needs to instantiate it. Private to wire.
namespace berth::wire {

// `object` is a fresh struct of the table's type; what it holds after an error is unspecified.
std::optional<base::Error> DecodeProtobufInto(void* object, const TypedTable& table, std::string_view bytes);
// Whether DecodeProtobufInto would succeed, for messages without quantities and lists of numbers; nothing
// is made.
bool IsWellFormed(const TypedTable& table, std::string_view bytes);
std::optional<base::Error> DecodeLenientJsonInto(void* object, const TypedTable& table,
                                                 std::string_view text);
std::optional<base::Error> DecodeJsonInto(void* object, const TypedTable& table, std::string_view text,
                                          Strictness strictness);
std::optional<base::Error> DecodeYamlInto(void* object, const TypedTable& table, std::string_view text,
                                          Strictness strictness);
std::string EncodeProtobufFrom(const void* object, const TypedTable& table);
std::string EncodeJsonFrom(const void* object, const TypedTable& table);
ObjectKind KindOfMessage(const Message& message);

template <class T>
base::Result<T> DecodeProtobuf(std::string_view bytes) {
  base::Result<T> result;
  if (auto error = DecodeProtobufInto(&*result, TableOf<T>(), bytes))
    result = std::unexpected(*std::move(error));
  return result;
}

template <class T>
std::string EncodeProtobuf(const T& object) {
  return EncodeProtobufFrom(&object, TableOf<T>());
}

template <class T>
base::Result<T> DecodeJson(std::string_view text, Strictness strictness) {
  base::Result<T> result;
  if (auto error = DecodeJsonInto(&*result, TableOf<T>(), text, strictness)) {
    result = std::unexpected(*std::move(error));
  }
  return result;
}

template <class T>
std::string EncodeJson(const T& object) {
  return EncodeJsonFrom(&object, TableOf<T>());
}

template <class T>
base::Result<T> DecodeYaml(std::string_view text, Strictness strictness) {
  base::Result<T> result;
  if (auto error = DecodeYamlInto(&*result, TableOf<T>(), text, strictness)) {
    result = std::unexpected(*std::move(error));
  }
  return result;
}

template <class T>
ObjectKind KindOf() {
  return KindOfMessage(*TableOf<T>().message);
}

}  // namespace berth::wire

#define BERTH_INSTANTIATE_CODEC(T)                                      \
  template base::Result<T> DecodeProtobuf<T>(std::string_view);         \
  template std::string EncodeProtobuf<T>(const T&);                     \
  template base::Result<T> DecodeJson<T>(std::string_view, Strictness); \
  template std::string EncodeJson<T>(const T&);                         \
  template base::Result<T> DecodeYaml<T>(std::string_view, Strictness)

// A kind with its list.
#define BERTH_INSTANTIATE_KIND(T)        \
  BERTH_INSTANTIATE_CODEC(T);            \
  BERTH_INSTANTIATE_CODEC(api::List<T>); \
  template ObjectKind KindOf<T>();       \
  template ObjectKind KindOf<api::List<T>>()
