#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::wire {

// Typed encoding and decoding of the structs of api, straight from and to bytes. Only fields that a struct
// has are read; the others are skipped at the cost of their length prefix. For whole objects with every
// field: transcode.h.
//
// Errors name the field path ("spec.containers[2].resources.requests[cpu]: ...") and, for malformed bytes,
// the offset. Depth, lengths and counts are bounded by what the input really holds: an input whose objects
// would take more than 64 times its size is refused.
//
// Instantiated for every struct that wire/bindings/ binds and for the api::List of every kind.

enum class Strictness {
  kLenient,  // unknown keys are skipped and the last duplicate wins, as in objects from an API server
  kStrict,   // unknown and duplicate keys are errors that name the path, as in what a user wrote
};

// `bytes` is the bare message, without envelope (envelope.h).
template <class T>
base::Result<T> DecodeProtobuf(std::string_view bytes);
template <class T>
std::string EncodeProtobuf(const T& object);

// apiVersion and kind are not looked at on decode and not written; KindOf<T>() says what they would be.
// Strict errors come all at once and read as an API server words them: `strict decoding error: unknown field
// "spec.foo"`.
template <class T>
base::Result<T> DecodeJson(std::string_view text, Strictness strictness = Strictness::kLenient);
template <class T>
std::string EncodeJson(const T& object);

template <class T>
base::Result<T> DecodeYaml(std::string_view text, Strictness strictness = Strictness::kLenient);

struct ObjectKind {
  std::string_view api_version;  // "apps/v1"
  std::string_view kind;         // "ReplicaSet"

  bool operator==(const ObjectKind&) const = default;
};

// For kinds and their lists: KindOf<api::List<api::Pod>>() is v1, PodList.
template <class T>
ObjectKind KindOf();

}  // namespace berth::wire
