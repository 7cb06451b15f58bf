#pragma once

#include <optional>

#include "base/clock.h"
#include "cycle/attempt_trace.h"
#include "framework/observer.h"

namespace berth::cycle {

// Notes in a trace when a decision was at which extension point. What it is told is passed on to another
// observer, if there is one.
class TraceObserver final : public framework::PluginObserver {
 public:
  explicit TraceObserver(const base::Clock& clock) : clock_(clock) {}

  // `trace` and `next`, which may be null, live until Finish.
  framework::PluginObserver* Start(AttemptTrace& trace, framework::PluginObserver* next);
  void Begin(framework::ExtensionPoint point, framework::PluginIndex plugin) override;
  void End(framework::ExtensionPoint point, framework::PluginIndex plugin, framework::Code code) override;
  void BeginPoint(framework::ExtensionPoint point) override;
  void EndPoint(framework::ExtensionPoint point, framework::Code code) override;
  // The decision is there; nothing if no trace was begun.
  void Finish();

 private:
  void Close();

  const base::Clock& clock_;
  AttemptTrace* trace_ = nullptr;
  framework::PluginObserver* next_ = nullptr;
  std::optional<framework::ExtensionPoint> current_;
  base::TimePoint began_;
  framework::Code code_ = framework::Code::kSuccess;
};

}  // namespace berth::cycle
