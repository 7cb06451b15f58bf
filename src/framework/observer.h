#pragma once

#include "framework/profile.h"
#include "framework/status.h"

namespace berth::framework {

// Is told of every call to a plugin in an attempt that it watches, to measure it. An attempt without an
// observer pays one comparison per call.
class PluginObserver {
 public:
  virtual ~PluginObserver() = default;
  virtual void Begin(ExtensionPoint point, PluginIndex plugin) = 0;
  virtual void End(ExtensionPoint point, PluginIndex plugin, Code code) = 0;
  // Around all plugins of a point. Of Filter once per attempt, whatever the number of nodes.
  virtual void BeginPoint(ExtensionPoint) {}
  virtual void EndPoint(ExtensionPoint, Code) {}
};

// Around one point, as Observed around one call.
class ObservedPoint {
 public:
  ObservedPoint(PluginObserver* observer, ExtensionPoint point) : observer_(observer), point_(point) {
    if (observer_ != nullptr) observer_->BeginPoint(point_);
  }
  ~ObservedPoint() {
    if (observer_ != nullptr) observer_->EndPoint(point_, code_);
  }
  ObservedPoint(const ObservedPoint&) = delete;
  ObservedPoint& operator=(const ObservedPoint&) = delete;

  void SetCode(Code code) { code_ = code; }

 private:
  PluginObserver* const observer_;
  const ExtensionPoint point_;
  Code code_ = Code::kSuccess;
};

// Around one call; the code is that of success unless it is set.
class Observed {
 public:
  Observed(PluginObserver* observer, ExtensionPoint point, PluginIndex plugin)
      : observer_(observer), point_(point), plugin_(plugin) {
    if (observer_ != nullptr) observer_->Begin(point_, plugin_);
  }
  ~Observed() {
    if (observer_ != nullptr) observer_->End(point_, plugin_, code_);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  void SetCode(Code code) { code_ = code; }

 private:
  PluginObserver* const observer_;
  const ExtensionPoint point_;
  const PluginIndex plugin_;
  Code code_ = Code::kSuccess;
};

}  // namespace berth::framework
