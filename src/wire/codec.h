#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::wire {

// Typed encoding and decoding of the structs of api, straight from and to bytes. Only fields that a struct has are
// read; the others are skipped at the cost of their length prefix. For whole objects with every field: transcode.h.
//
// Errors name the field path ("spec.containers[2].resources.requests[cpu]: ...") and, for malformed bytes, the offset.
// Depth, lengths and counts are bounded by what the input really holds: no input makes memory grow beyond a small
// multiple of its size.

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
template <class T>
base::Result<T> DecodeJson(std::string_view text, Strictness strictness = Strictness::kLenient);
template <class T>
std::string EncodeJson(const T& object);

template <class T>
base::Result<T> DecodeYaml(std::string_view text, Strictness strictness = Strictness::kLenient);

}  // namespace berth::wire
