#include "client/volume_writer.h"

#include <utility>

#include "client/locked_patch.h"

namespace berth::client {
namespace {

constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";

// A volume that an administrator meant for this very claim stays the administrator's.
bool IsMeantFor(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

JsonObject WithAnnotation(std::string_view key, std::string_view value) {
  JsonObject annotations;
  annotations.Text(key, value);
  JsonObject metadata;
  metadata.Raw("annotations", annotations.Finish());
  return metadata;
}

ApiRequest ReservePatch(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  JsonObject reference;
  reference.Text("kind", "PersistentVolumeClaim");
  reference.Text("namespace", claim.metadata.namespace_);
  reference.Text("name", claim.metadata.name);
  reference.Text("uid", claim.metadata.uid);
  reference.Text("apiVersion", "v1");
  reference.Text("resourceVersion", claim.metadata.resource_version);
  JsonObject spec;
  spec.Raw("claimRef", reference.Finish());
  JsonObject changes;
  changes.Raw("spec", spec.Finish());
  return LockedPatch(InfoOf(Resource::kPersistentVolumes), volume.metadata, "", std::move(changes),
                     IsMeantFor(volume, claim) ? JsonObject() : WithAnnotation(kBoundByController, "yes"));
}

ApiRequest SelectNodePatch(const api::PersistentVolumeClaim& claim, const std::string& node) {
  return LockedPatch(InfoOf(Resource::kPersistentVolumeClaims), claim.metadata, "", {},
                     WithAnnotation(kSelectedNode, node));
}

}  // namespace

base::Task<ApiResult<api::PersistentVolume>> VolumeWriter::Reserve(const api::PersistentVolume& volume,
                                                                   const api::PersistentVolumeClaim& claim) {
  const auto response = co_await client_.Send(ReservePatch(volume, claim));
  if (!response) co_return std::unexpected(response.error());
  co_return DecodeObject<api::PersistentVolume>(*response);
}

base::Task<ApiResult<api::PersistentVolumeClaim>> VolumeWriter::SelectNode(
    const api::PersistentVolumeClaim& claim, std::string node) {
  const auto response = co_await client_.Send(SelectNodePatch(claim, node));
  if (!response) co_return std::unexpected(response.error());
  co_return DecodeObject<api::PersistentVolumeClaim>(*response);
}

}  // namespace berth::client
