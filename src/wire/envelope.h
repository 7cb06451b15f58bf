#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::wire {

// Kubernetes puts four magic bytes and a runtime.Unknown message around every protobuf object, because the
// message itself says neither its kind nor its version.
inline constexpr std::string_view kEnvelopeMagic{"k8s\0", 4};

// What an enveloped body holds. The views point into the body: nothing is copied.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;  // the message itself, of the kind's schema
};

base::Result<Envelope> ParseEnvelope(std::string_view body);

// The bytes that Go writes for the same object.
std::string WriteEnvelope(const Envelope& envelope);

}  // namespace berth::wire
