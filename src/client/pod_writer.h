#pragma once

#include <optional>
#include <string>

#include "client/pod_status_patch.h"
#include "client/retry.h"

namespace berth::client {

struct PodName {
  std::string namespace_;
  std::string name;
  std::string uid;
};

// Writes to pods, each with its own rule of what is tried again (retry.h).
class PodWriter {
 public:
  PodWriter(ApiClient& client, base::Random random) : client_(client), random_(random) {}

  // The uid is the precondition, so a binding may be sent again. When a reply is lost, or a later try meets a
  // conflict that an earlier one may have caused, the pod itself is read: bound to the node is a success,
  // bound elsewhere or gone an error, and while it is not bound there are tries left. A conflict of the first
  // try is an answer: somebody else was faster.
  base::Task<ApiResult<void>> Bind(PodName pod, std::string node);

  // An empty patch is no request.
  base::Task<ApiResult<void>> PatchStatus(PodName pod, std::string patch);

  // With the pod's own grace period. False: it was gone already.
  base::Task<ApiResult<bool>> Delete(PodName pod);

  // Says in the victim's status why, and only then deletes it. False: it was gone already.
  base::Task<ApiResult<bool>> Preempt(PodName victim, std::string status_patch);

 private:
  // What became of a binding that nobody answered; nothing if the pod waits as before. `why` is told if the
  // server does not say either.
  base::Task<std::optional<ApiResult<void>>> Settle(PodName pod, std::string node, ApiError why);
  ApiRequest BindingFor(const PodName& pod, const std::string& node) const;
  ApiRequest RequestFor(const PodName& pod, std::string method, std::string_view subresource) const;

  ApiClient& client_;
  base::Random random_;
};

}  // namespace berth::client
