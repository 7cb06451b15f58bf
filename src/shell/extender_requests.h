#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/http_transport.h"
#include "client/loop_executor.h"

#include "base/error.h"
#include "base/task.h"
#include "config/configuration.h"
#include "cycle/extender.h"
#include "shell/extender_messages.h"

namespace berth::shell {

// What the core has to know of an extender.
cycle::ExtenderSpec SpecOf(const config::Extender& extender);

// Carries questions to extenders over HTTP.
class ExtenderRequests {
 public:
  // More than this nobody is listened to.
  static constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

  // Fails with what is wrong about an address or a certificate. `executor` outlives it.
  static base::Result<std::unique_ptr<ExtenderRequests>> Make(client::LoopExecutor& executor,
                                                              const std::vector<config::Extender>& extenders);

  // Ends after the extender's timeout at the latest. Errors read as they do in a pod's status.
  base::Task<base::Result<cycle::ExtenderAnswer>> Ask(cycle::ExtenderCall call);

 private:
  struct Extender {
    config::Extender config;
    std::unique_ptr<client::HttpTransport> transport;
  };

  std::vector<Extender> extenders_;  // in the order of the configuration
  ObjectTexts texts_;
};

}  // namespace berth::shell
