#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod_record.h"
#include "cluster/cluster.h"
#include "plugins/volume_csi_migration.h"

// Which volumes of CSI drivers a pod attaches to its node.
namespace berth::plugins {

struct PodAttachments {
  std::vector<CsiVolume> volumes;   // may repeat
  std::vector<std::string> claims;  // keys of the claims that were looked at
  bool by_class = false;            // some claim has no known volume yet, so its class told the driver
  // The first one; volumes are incomplete then.
  struct Error {
    bool not_found = false;
    std::string text;
  };
  std::optional<Error> error;
};

struct AttachmentRules {
  // The node has a CSINode: volumes that were built in are attached by CSI drivers there.
  bool migrated = false;
  // A claim that does not exist is an error for a pod that waits, and no volume for one that runs.
  bool missing_claim_is_error = false;
};
PodAttachments AttachmentsOf(const cluster::Cluster& cluster, const api::PodRecord& pod,
                             const AttachmentRules& rules);

}  // namespace berth::plugins
