#include "client/pod_writer.h"

#include <utility>

#include "fmt/format.h"

#include "api/writes.h"

namespace berth::client {

api::PodCondition PreemptedCondition(std::string_view scheduler_name, std::string_view preemptor,
                                     std::int64_t generation) {
  api::PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message =
      fmt::format("{}: preempting to accommodate a higher priority {}", scheduler_name, preemptor);
  condition.observed_generation = generation;
  return condition;
}

ApiRequest PodWriter::RequestFor(const PodName& pod, std::string method, std::string_view subresource) const {
  const ResourceInfo& info = InfoOf(Resource::kPods);
  return {.method = std::move(method),
          .path = ObjectPath(info, pod.namespace_, pod.name, subresource),
          .subject = {.method = "", .resource = "pods", .name = pod.name}};
}

base::Task<ApiResult<void>> PodWriter::Bind(PodName pod, std::string node) {
  api::Binding binding;
  binding.metadata.name = pod.name;
  binding.metadata.namespace_ = pod.namespace_;
  binding.metadata.uid = pod.uid;
  binding.target.kind = "Node";
  binding.target.name = std::move(node);
  ApiRequest request = RequestFor(pod, "POST", "binding");
  SetBody(request, binding);
  const auto response = co_await SendWithRetry(client_, random_, kBindRetry, std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return ApiResult<void>();
}

base::Task<ApiResult<void>> PodWriter::PatchStatus(PodName pod, std::string patch) {
  if (patch.empty()) co_return ApiResult<void>();
  ApiRequest request = RequestFor(pod, "PATCH", "status");
  request.content_type = kStrategicMergePatch;
  request.body = std::move(patch);
  const auto response = co_await SendWithRetry(client_, random_, kStatusPatchRetry, std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return ApiResult<void>();
}

base::Task<ApiResult<void>> PodWriter::Delete(PodName pod) {
  const auto response = co_await client_.Send(RequestFor(pod, "DELETE", ""));
  if (!response && !IsNotFound(response.error())) co_return std::unexpected(response.error());
  co_return ApiResult<void>();
}

base::Task<ApiResult<void>> PodWriter::Preempt(PodName victim, std::string status_patch) {
  auto patched = co_await PatchStatus(victim, std::move(status_patch));
  if (!patched) {
    if (IsNotFound(patched.error())) co_return ApiResult<void>();
    co_return patched;
  }
  co_return co_await Delete(std::move(victim));
}

}  // namespace berth::client
