#include "client/pod_writer.h"

#include <utility>

#include "fmt/format.h"

#include "api/writes.h"

namespace berth::client {
namespace {

bool MayBindAgain(const ApiError& error) { return IsServerTrouble(error) || IsReplyLost(error); }

constexpr RetryRule kRepeatBinding{.attempts = kBindRetry.attempts, .is_retriable = MayBindAgain};

}  // namespace

ApiRequest PodWriter::RequestFor(const PodName& pod, std::string method, std::string_view subresource) const {
  const ResourceInfo& info = InfoOf(Resource::kPods);
  return {.method = std::move(method),
          .path = ObjectPath(info, pod.namespace_, pod.name, subresource),
          .subject = {.method = "", .resource = "pods", .name = pod.name}};
}

ApiRequest PodWriter::BindingFor(const PodName& pod, const std::string& node) const {
  api::Binding binding;
  binding.metadata.name = pod.name;
  binding.metadata.namespace_ = pod.namespace_;
  binding.metadata.uid = pod.uid;
  binding.target.kind = "Node";
  binding.target.name = node;
  ApiRequest request = RequestFor(pod, "POST", "binding");
  SetBody(request, binding);
  return request;
}

base::Task<ApiResult<void>> PodWriter::Bind(PodName pod, std::string node) {
  for (int attempt = 1;; ++attempt) {
    ApiRequest request = BindingFor(pod, node);
    const auto response = co_await client_.Send(std::move(request));
    if (response) co_return ApiResult<void>();
    const ApiError& error = response.error();
    if (IsReplyLost(error) || (attempt > 1 && IsConflict(error))) {
      auto settled = co_await Settle(pod, node, error);
      if (settled) co_return std::move(*settled);
    }
    const auto delay = RetryDelay(kRepeatBinding, attempt, error, random_);
    if (!delay) co_return std::unexpected(error);
    co_await client_.executor().SleepFor(*delay);
  }
}

base::Task<std::optional<ApiResult<void>>> PodWriter::Settle(PodName pod, std::string node, ApiError why) {
  using Settled = std::optional<ApiResult<void>>;
  ApiRequest request = RequestFor(pod, "GET", "");
  const auto response = co_await SendWithRetry(client_, random_, kBindRetry, std::move(request));
  if (!response) {
    if (IsNotFound(response.error())) co_return Settled(std::unexpected(response.error()));
    co_return Settled(std::unexpected(std::move(why)));
  }
  const auto found = DecodeObject<api::Pod>(*response);
  if (!found) co_return Settled(std::unexpected(std::move(why)));
  if (found->metadata.uid != pod.uid) {
    co_return Settled(std::unexpected(
        ApiError{.message = fmt::format("pod {}/{} was replaced by another one", pod.namespace_, pod.name)}));
  }
  if (found->spec.node_name.empty()) co_return Settled();
  if (found->spec.node_name == node) co_return Settled(ApiResult<void>());
  co_return Settled(std::unexpected(ApiError{
      .message = fmt::format("pod {} is already assigned to node \"{}\"", pod.name, found->spec.node_name)}));
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
