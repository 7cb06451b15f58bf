#include "client/claim_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/json_object.h"
#include "client/locked_patch.h"
#include "fmt/format.h"

#include "wire/codec.h"
#include "wire/json_text.h"

namespace berth::client {
namespace {

constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

const ResourceInfo& Info() { return InfoOf(Resource::kResourceClaims); }

ApiRequest RequestFor(std::string method, const api::ObjectMeta& claim, std::string_view subresource = {}) {
  const bool is_create = method == "POST";
  return {.method = std::move(method),
          .path = is_create ? CollectionPath(Info(), claim.namespace_)
                            : ObjectPath(Info(), claim.namespace_, claim.name, subresource),
          .subject = {.method = "", .resource = QualifiedName(Info()), .name = claim.name}};
}

ApiRequest FinalizersPatch(const api::ObjectMeta& claim, const std::vector<std::string>& finalizers) {
  JsonArray texts;
  for (const std::string& finalizer : finalizers) texts.Text(finalizer);
  JsonObject metadata;
  metadata.Raw("finalizers", texts.Finish());
  return LockedPatch(Info(), claim, "", {}, std::move(metadata));
}

ApiRequest StatusPatch(const api::ObjectMeta& claim, JsonObject status) {
  JsonObject changes;
  changes.Raw("status", status.Finish());
  return LockedPatch(Info(), claim, "status", std::move(changes));
}

ApiRequest DeallocatePatch(const api::ObjectMeta& claim) {
  JsonObject status;
  for (const std::string_view key : {"allocation", "reservedFor", "devices"}) status.Raw(key, "null");
  return StatusPatch(claim, std::move(status));
}

ApiError ClaimError(const api::ObjectMeta& claim, std::string_view what) {
  return {.message = fmt::format("claim {}/{} {}", claim.namespace_, claim.name, what)};
}

bool IsConflictOrReplyLost(const ApiError& error) { return IsConflict(error) || IsReplyLost(error); }

// A request that got no answer may arrive yet. The same again, of the same version, makes sure: one of the
// two fails.
constexpr RetryRule kReservationRetry{.attempts = 5, .factor = 1, .is_retriable = IsConflictOrReplyLost};

constexpr base::Duration kQuestionDelay = std::chrono::milliseconds(20);
constexpr base::Duration kQuestionDelayMax = std::chrono::seconds(5);

// What was tried, before the server's words. What kind of error it is stays.
std::unexpected<ApiError> While(std::string_view doing, const api::ObjectMeta& claim, ApiError error,
                                std::string_view rest = "") {
  error.message =
      fmt::format("{} claim {}/{}{}: {}", doing, claim.namespace_, claim.name, rest, error.message);
  return std::unexpected(std::move(error));
}

// What was to be written is there.
bool IsBound(const api::ResourceClaim& claim, const std::optional<api::AllocationResult>& allocation,
             const api::ResourceClaimConsumerReference& consumer) {
  if (!claim.status.allocation) return false;
  const auto& users = claim.status.reserved_for;
  if (std::ranges::find(users, consumer.uid, &api::ResourceClaimConsumerReference::uid) == users.end()) {
    return false;
  }
  const auto is_same = [](const auto& a, const auto& b) {
    return a.request == b.request && a.driver == b.driver && a.pool == b.pool && a.device == b.device;
  };
  return !allocation ||
         std::ranges::equal(claim.status.allocation->devices.results, allocation->devices.results, is_same);
}

}  // namespace

api::ResourceClaim ExtendedResourceClaim(const PodName& pod) {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = pod.namespace_;
  claim.metadata.generate_name = pod.name + "-extended-resources-";
  claim.metadata.annotations.insert_or_assign(std::string("resource.kubernetes.io/extended-resource-claim"),
                                              std::string("true"));
  api::OwnerReference owner;
  owner.api_version = "v1";
  owner.kind = "Pod";
  owner.name = pod.name;
  owner.uid = pod.uid;
  owner.controller = true;
  claim.metadata.owner_references.push_back(std::move(owner));
  return claim;
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::Call(ApiRequest request) {
  const auto response = co_await client_.Send(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return DecodeObject<api::ResourceClaim>(*response);
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::Get(const api::ObjectMeta& claim) {
  ApiRequest request = RequestFor("GET", claim);
  co_return co_await Call(std::move(request));
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::Bind(api::ResourceClaim claim,
                                                            std::optional<api::AllocationResult> allocation,
                                                            api::ResourceClaimConsumerReference consumer) {
  for (int attempt = 1;; ++attempt) {
    auto bound = co_await BindOnce(claim, allocation, consumer);
    if (bound) co_return bound;
    const auto delay = RetryDelay(kReservationRetry, attempt, bound.error(), random_);
    if (!delay && !MayBeDone(bound.error())) co_return bound;
    if (delay) co_await client_.executor().SleepFor(*delay);
    auto newer = co_await GetSurely(claim.metadata);
    if (!newer) {
      co_return While("get updated", claim.metadata, std::move(newer.error()), " after conflict");
    }
    if (newer->metadata.uid != claim.metadata.uid) {
      co_return std::unexpected(ClaimError(claim.metadata, "got replaced in the meantime"));
    }
    if (IsBound(*newer, allocation, consumer)) co_return newer;
    if (!delay) co_return bound;
    claim = std::move(*newer);
  }
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::GetSurely(const api::ObjectMeta& claim) {
  base::Duration delay = kQuestionDelay;
  while (true) {
    auto found = co_await Get(claim);
    if (found) co_return found;
    if (!found.error().network && !MayBeDone(found.error())) co_return found;  // it has said what it knows
    co_await client_.executor().SleepFor(delay);
    delay = std::min(2 * delay, kQuestionDelayMax);
  }
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::BindOnce(
    const api::ResourceClaim& claim, const std::optional<api::AllocationResult>& allocation,
    const api::ResourceClaimConsumerReference& consumer) {
  if (claim.metadata.deletion_timestamp) {
    co_return std::unexpected(ClaimError(claim.metadata, "got deleted in the meantime"));
  }
  api::ResourceClaim current = claim;
  JsonObject status;
  if (allocation) {
    if (claim.status.allocation) {
      co_return std::unexpected(ClaimError(claim.metadata, "got allocated elsewhere in the meantime"));
    }
    if (std::ranges::find(claim.metadata.finalizers, kFinalizer) == claim.metadata.finalizers.end()) {
      std::vector<std::string> finalizers = claim.metadata.finalizers;
      finalizers.emplace_back(kFinalizer);
      ApiRequest guard = FinalizersPatch(claim.metadata, finalizers);
      auto guarded = co_await Call(std::move(guard));
      if (!guarded) co_return While("add finalizer to", claim.metadata, std::move(guarded.error()));
      current = std::move(*guarded);
    }
    status.Raw("allocation", wire::EncodeJson(*allocation));
  } else if (!claim.status.allocation) {
    co_return std::unexpected(ClaimError(claim.metadata, "got deallocated elsewhere in the meantime"));
  }
  JsonArray reserved;
  for (const auto& user : current.status.reserved_for) reserved.Raw(wire::EncodeJson(user));
  reserved.Raw(wire::EncodeJson(consumer));
  status.Raw("reservedFor", reserved.Finish());
  ApiRequest request = StatusPatch(current.metadata, std::move(status));
  auto bound = co_await Call(std::move(request));
  if (bound) co_return bound;
  const std::string_view doing = allocation ? "add allocation and reservation to" : "add reservation to";
  co_return While(doing, claim.metadata, std::move(bound.error()));
}

base::Task<ApiResult<void>> ClaimWriter::Unreserve(api::ObjectMeta claim, std::string consumer_uid) {
  std::string body = "{\"metadata\": {\"uid\": ";
  wire::AppendJsonString(body, claim.uid);
  body += "}, \"status\": { \"reservedFor\": [ {\"$patch\": \"delete\", \"uid\": ";
  wire::AppendJsonString(body, consumer_uid);
  body += "} ] }}";
  ApiRequest request = RequestFor("PATCH", claim, "status");
  request.content_type = kStrategicMergePatch;
  request.body = std::move(body);
  const auto response = co_await SendWithRetry(client_, random_, kStatusPatchRetry, std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return ApiResult<void>();
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::Deallocate(api::ResourceClaim claim) {
  ApiRequest request = DeallocatePatch(claim.metadata);
  co_return co_await Call(std::move(request));
}

base::Task<ApiResult<api::ResourceClaim>> ClaimWriter::Create(api::ResourceClaim claim) {
  ApiRequest request = RequestFor("POST", claim.metadata);
  SetBody(request, claim);
  co_return co_await Call(std::move(request));
}

base::Task<ApiResult<void>> ClaimWriter::Delete(api::ResourceClaim claim) {
  for (int attempt = 1; std::erase(claim.metadata.finalizers, kFinalizer) != 0; ++attempt) {
    ApiRequest request = FinalizersPatch(claim.metadata, claim.metadata.finalizers);
    auto freed = co_await Call(std::move(request));
    if (freed) break;
    if (IsNotFound(freed.error())) co_return ApiResult<void>();
    const auto delay = RetryDelay(kConflictRetry, attempt, freed.error(), random_);
    if (!delay) co_return std::unexpected(std::move(freed.error()));
    co_await client_.executor().SleepFor(*delay);
    auto newer = co_await Get(claim.metadata);
    if (!newer) {
      if (IsNotFound(newer.error())) co_return ApiResult<void>();
      co_return std::unexpected(std::move(newer.error()));
    }
    claim = std::move(*newer);
  }
  ApiRequest request = RequestFor("DELETE", claim.metadata);
  const auto response = co_await client_.Send(std::move(request));
  if (!response && !IsNotFound(response.error())) co_return std::unexpected(response.error());
  co_return ApiResult<void>();
}

}  // namespace berth::client
