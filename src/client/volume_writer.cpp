#include "client/volume_writer.h"

#include <boost/json/object.hpp>
#include <utility>

#include "client/locked_patch.h"

namespace berth::client {
namespace {

constexpr const char* kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";

// A volume that an administrator meant for this very claim stays the administrator's.
bool IsMeantFor(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_ == claim.metadata.namespace_ &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

ApiRequest ReservePatch(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  boost::json::object changes;
  if (!IsMeantFor(volume, claim)) changes["metadata"] = {{"annotations", {{kBoundByController, "yes"}}}};
  changes["spec"] = {{"claimRef",
                      {{"kind", "PersistentVolumeClaim"},
                       {"namespace", claim.metadata.namespace_},
                       {"name", claim.metadata.name},
                       {"uid", claim.metadata.uid},
                       {"apiVersion", "v1"},
                       {"resourceVersion", claim.metadata.resource_version}}}};
  return LockedPatch(InfoOf(Resource::kPersistentVolumes), volume.metadata, "", std::move(changes));
}

ApiRequest SelectNodePatch(const api::PersistentVolumeClaim& claim, const std::string& node) {
  boost::json::object changes;
  changes["metadata"] = {{"annotations", {{kSelectedNode, node}}}};
  return LockedPatch(InfoOf(Resource::kPersistentVolumeClaims), claim.metadata, "", std::move(changes));
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
