#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::config {

// The TracingConfiguration of Kubernetes' components (apiserver.config.k8s.io), as the file of
// --tracing-config-file holds it.
struct Tracing {
  // Where traces are sent to, over OTLP/HTTP: "host:port", or a URL, whose path is then used as it is.
  std::string endpoint = "localhost:4318";
  // How many of a million attempts are traced. 0: none.
  std::uint32_t sampling_rate_per_million = 0;

  bool operator==(const Tracing&) const = default;
};

// Strict, as for the configuration of a scheduler: the first kind of mistake, in Kubernetes' words.
base::Result<Tracing> DecodeTracing(std::string_view text);

}  // namespace berth::config
