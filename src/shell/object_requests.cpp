#include "shell/object_requests.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace berth::shell {
namespace {

using Answer = base::Result<cluster::AnyObject>;

template <class T>
Answer ToAnswer(client::ApiResult<T> result) {
  if (!result) return base::Fail(result.error().message);
  return cluster::AnyObject(std::make_shared<const T>(*std::move(result)));
}

Answer ToAnswer(const client::ApiResult<void>& result) {
  if (!result) return base::Fail(result.error().message);
  return cluster::AnyObject();
}

// The tasks that one kind of write becomes. The writes are parameters of the coroutines, so they live as
// long.
struct Requests {
  client::VolumeWriter& volumes;
  client::ClaimWriter& claims;
  client::PodWriter& pods;

  base::Task<Answer> operator()(framework::ReserveVolume write) const {
    co_return ToAnswer(co_await volumes.Reserve(*write.volume, *write.claim));
  }
  base::Task<Answer> operator()(framework::SelectVolumeNode write) const {
    co_return ToAnswer(co_await volumes.SelectNode(*write.claim, std::move(write.node)));
  }
  base::Task<Answer> operator()(framework::BindClaim write) const {
    co_return ToAnswer(
        co_await claims.Bind(*write.claim, std::move(write.allocation), std::move(write.consumer)));
  }
  base::Task<Answer> operator()(framework::UnreserveClaim write) const {
    co_return ToAnswer(co_await claims.Unreserve(std::move(write.claim), std::move(write.consumer_uid)));
  }
  base::Task<Answer> operator()(framework::DeallocateClaim write) const {
    co_return ToAnswer(co_await claims.Deallocate(*write.claim));
  }
  base::Task<Answer> operator()(framework::CreateClaim write) const {
    co_return ToAnswer(co_await claims.Create(*write.claim));
  }
  base::Task<Answer> operator()(framework::DeleteClaim write) const {
    co_return ToAnswer(co_await claims.Delete(*write.claim));
  }
  base::Task<Answer> operator()(framework::SetExtendedResourceClaim write) const {
    const api::PodRecord& pod = *write.pod;
    client::PodName name{pod.namespace_, pod.name, pod.uid};
    std::string patch = client::ExtendedResourceClaimPatch(pod.uid, write.status);
    co_return ToAnswer(co_await pods.PatchStatus(std::move(name), std::move(patch)));
  }
};

}  // namespace

base::Task<Answer> ObjectRequests::Request(framework::ObjectWrite write) {
  const Requests requests{volumes_, claims_, pods_};
  co_return co_await std::visit([&](auto& one) { return requests(std::move(one)); }, write);
}

}  // namespace berth::shell
