#include "client/pod_writer.h"

#include <utility>

#include "api/writes.h"

namespace berth::client {

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

base::Task<ApiResult<bool>> PodWriter::Delete(PodName pod) {
  const auto response = co_await client_.Send(RequestFor(pod, "DELETE", ""));
  if (response) co_return true;
  if (IsNotFound(response.error())) co_return false;
  co_return std::unexpected(response.error());
}

base::Task<ApiResult<bool>> PodWriter::Preempt(PodName victim, std::string status_patch) {
  const auto patched = co_await PatchStatus(victim, std::move(status_patch));
  if (!patched) {
    if (IsNotFound(patched.error())) co_return false;
    co_return std::unexpected(patched.error());
  }
  co_return co_await Delete(std::move(victim));
}

}  // namespace berth::client
