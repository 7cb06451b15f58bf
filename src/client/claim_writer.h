#pragma once

#include <optional>
#include <string>

#include "client/pod_writer.h"
#include "client/retry.h"

#include "api/devices.h"

namespace berth::client {

// Writes to resource claims: what they got, and who uses them.
//
// A write that conflicts with another is made again from the claim as it is then, five times in all, unless
// that claim is no longer what the decision was about. Of a reservation whose answer did not come, or says
// that the server is in trouble, the server is asked until it says whether it was done: devices that a claim
// may have got must not be given to another.
class ClaimWriter {
 public:
  ClaimWriter(ApiClient& client, base::Random random) : client_(client), random_(random) {}

  // Reserves the claim for the consumer; with `allocation` it is also allocated, and protected from deletion
  // first.
  base::Task<ApiResult<api::ResourceClaim>> Bind(api::ResourceClaim claim,
                                                 std::optional<api::AllocationResult> allocation,
                                                 api::ResourceClaimConsumerReference consumer);

  // Takes the consumer's reservation back, if the claim is still the one with this uid.
  base::Task<ApiResult<void>> Unreserve(api::ObjectMeta claim, std::string consumer_uid);

  base::Task<ApiResult<api::ResourceClaim>> Deallocate(api::ResourceClaim claim);

  // A claim that berth makes itself, for a pod that asks for devices as for any other resource.
  base::Task<ApiResult<api::ResourceClaim>> Create(api::ResourceClaim claim);
  // Takes its protection away, then the claim. One that is gone is a success.
  base::Task<ApiResult<void>> Delete(api::ResourceClaim claim);

 private:
  base::Task<ApiResult<api::ResourceClaim>> BindOnce(const api::ResourceClaim& claim,
                                                     const std::optional<api::AllocationResult>& allocation,
                                                     const api::ResourceClaimConsumerReference& consumer);
  base::Task<ApiResult<api::ResourceClaim>> Call(ApiRequest request);
  base::Task<ApiResult<api::ResourceClaim>> Get(const api::ObjectMeta& claim);
  // As Get, again and again while the server cannot say.
  base::Task<ApiResult<api::ResourceClaim>> GetSurely(const api::ObjectMeta& claim);

  ApiClient& client_;
  base::Random random_;
};

// The claim that serves the extended resources of a pod; its spec is the caller's.
api::ResourceClaim ExtendedResourceClaim(const PodName& pod);

}  // namespace berth::client
