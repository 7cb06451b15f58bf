#include "plugins/example_hold.h"

#include <optional>
#include <string>

#include "fmt/format.h"

#include "base/go_duration.h"
#include "plugins/hint_objects.h"

namespace berth::plugins {
namespace {

using framework::Status;

// Nothing: the pod has no such annotation.
base::Result<std::optional<base::Duration>> WaitOf(const api::PodRecord& pod, std::string_view key) {
  const std::optional<std::string_view> text = pod.annotations.find(key);
  if (!text) return std::nullopt;
  const base::Result<base::Duration> wait = base::ParseGoDuration(*text);
  if (!wait) return base::Fail(fmt::format("annotation {}: {}", key, wait.error().message));
  if (*wait < base::Duration::zero()) {
    return base::Fail(fmt::format("annotation {}: {} is negative", key, *text));
  }
  return *wait;
}

// Empty: nothing holds the pod back.
std::string WhyHeld(const api::PodRecord& pod) {
  if (const std::optional<std::string_view> message = pod.annotations.find(ExampleHold::kHold)) {
    return message->empty() ? fmt::format("held by the annotation {}", ExampleHold::kHold)
                            : std::string(*message);
  }
  for (const std::string_view key : {ExampleHold::kPermitWait, ExampleHold::kPreBindWait}) {
    if (const auto wait = WaitOf(pod, key); !wait) return wait.error().message;
  }
  return {};
}

base::Result<framework::Hint> AfterOwnUpdate(const framework::HintInput& input) {
  const auto pod = ChangedObjectsOf<api::PodRecord>(input);
  if (!pod) return std::unexpected(pod.error());
  // Held for another reason: the pod is looked at again so that its status says so.
  const std::string reason = WhyHeld(*pod->after);
  return QueueIf(reason.empty() || pod->before == nullptr || WhyHeld(*pod->before) != reason);
}

}  // namespace

Status ExampleHold::PreEnqueue(const framework::WaitingPod& pod) const {
  std::string reason = WhyHeld(pod.record());
  if (reason.empty()) return {};
  return Status::Unresolvable(std::move(reason));
}

std::vector<framework::EventRegistration> ExampleHold::EventsToRegister() const {
  return {{.event = {framework::EventResource::kTargetPod, framework::kUpdate}, .hint = AfterOwnUpdate}};
}

framework::PermitResult ExampleHold::Permit(const cluster::Cluster&,
                                            framework::Assignment& assignment) const {
  const auto wait = WaitOf(*assignment.record, kPermitWait);
  if (!wait) return {.status = Status::Unresolvable(wait.error().message)};
  if (!*wait || **wait == base::Duration::zero()) return {};
  return {.status = Status(framework::Code::kWait),
          .timeout = **wait,
          .after_wait = framework::AfterWait::kAllow};
}

framework::PreFlightResult ExampleHold::PreBindPreFlight(const cluster::Cluster&,
                                                         const framework::Assignment& assignment) const {
  const auto wait = WaitOf(*assignment.record, kPreBindWait);
  if (!wait) return {.status = Status::Error(wait.error().message)};
  if (!*wait) return {.status = Status::Skip()};
  return {.status = {}, .allow_parallel = true};
}

base::Task<Status> ExampleHold::PreBind(framework::BindingContext& context,
                                        framework::Assignment& assignment) const {
  const auto wait = WaitOf(*assignment.record, kPreBindWait);
  if (!wait) co_return Status::Error(wait.error().message);
  if (!*wait) co_return Status();
  const base::WaitResult end = co_await context.executor.SleepFor(**wait, context.cancelled);
  if (end == base::WaitResult::kCancelled) co_return Status::Error("the wait was cancelled");
  co_return Status();
}

}  // namespace berth::plugins
