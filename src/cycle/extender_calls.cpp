#include "cycle/extender_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::cycle {
namespace {

bool Names(const std::vector<api::Container>& containers, const std::string& resource) {
  return std::ranges::any_of(containers, [&](const api::Container& container) {
    return container.resources.requests.find(resource) != nullptr ||
           container.resources.limits.find(resource) != nullptr;
  });
}

}  // namespace

bool ExtenderSpec::IsInterestedIn(const api::PodSpec& pod) const {
  if (managed_resources.empty()) return true;
  return std::ranges::any_of(managed_resources, [&](const std::string& resource) {
    return Names(pod.containers, resource) || Names(pod.init_containers, resource);
  });
}

base::Task<base::Result<ExtenderAnswer>> ExtenderCalls::Ask(ExtenderCall call) {
  call.id = ++last_id_;
  Answer answer(executor_);
  auto future = answer.future();
  waiting_.emplace(call.id, std::move(answer));
  started_.push_back(std::move(call));
  std::optional<base::Result<ExtenderAnswer>> result = co_await future.Get();
  if (!result) co_return base::Fail("the question was given up");
  co_return *std::move(result);
}

std::vector<ExtenderCall> ExtenderCalls::TakeStarted() { return std::exchange(started_, {}); }

void ExtenderCalls::Finish(ExtenderCallId id, base::Result<ExtenderAnswer> answer) {
  auto waiting = waiting_.extract(id);
  if (waiting) waiting.mapped().Set(std::move(answer));
}

}  // namespace berth::cycle
