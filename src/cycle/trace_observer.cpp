#include "cycle/trace_observer.h"

#include <string_view>
#include <utility>

namespace berth::cycle {
namespace {

// Of the points that a decision passes through.
std::string_view NameOfPoint(framework::ExtensionPoint point) {
  switch (point) {
    case framework::ExtensionPoint::kPreFilter:
      return "PreFilter";
    case framework::ExtensionPoint::kFilter:
      return "Filter";
    case framework::ExtensionPoint::kPreScore:
      return "PreScore";
    case framework::ExtensionPoint::kScore:
      return "Score";
    default:
      return "";
  }
}

}  // namespace

framework::PluginObserver* TraceObserver::Start(AttemptTrace& trace, framework::PluginObserver* next) {
  trace_ = &trace;
  next_ = next;
  current_.reset();
  return this;
}

void TraceObserver::Close() {
  if (!current_) return;
  trace_->spans.push_back({NameOfPoint(*current_), began_, clock_.Now(), framework::CodeName(code_)});
  current_.reset();
}

void TraceObserver::Begin(framework::ExtensionPoint point, framework::PluginIndex plugin) {
  if (trace_ != nullptr && current_ != point) {
    Close();
    current_ = point;
    began_ = clock_.Now();
    code_ = framework::Code::kSuccess;
  }
  if (next_ != nullptr) next_->Begin(point, plugin);
}

void TraceObserver::End(framework::ExtensionPoint point, framework::PluginIndex plugin,
                        framework::Code code) {
  if (code != framework::Code::kSuccess && code != framework::Code::kSkip) code_ = code;
  if (next_ != nullptr) next_->End(point, plugin, code);
}

void TraceObserver::BeginPoint(framework::ExtensionPoint point) {
  if (next_ != nullptr) next_->BeginPoint(point);
}

void TraceObserver::EndPoint(framework::ExtensionPoint point, framework::Code code) {
  if (next_ != nullptr) next_->EndPoint(point, code);
}

void TraceObserver::Finish() {
  if (trace_ != nullptr) Close();
  // Preemption goes on asking: that belongs to PostFilter.
  trace_ = nullptr;
}

}  // namespace berth::cycle
