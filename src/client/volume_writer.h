#pragma once

#include <string>

#include "client/api_client.h"

#include "api/storage.h"

namespace berth::client {

// Writes to volumes and their claims.
//
// They are patches that carry the uid and the resource version of what was decided on: a write to anything
// else fails, and fields that berth does not know stay as they are. Nothing is tried again: an error fails
// the cycle, and the next one looks at the new state.
class VolumeWriter {
 public:
  explicit VolumeWriter(ApiClient& client) : client_(client) {}

  // Reserves the volume for the claim. Returns the volume as stored.
  base::Task<ApiResult<api::PersistentVolume>> Reserve(const api::PersistentVolume& volume,
                                                       const api::PersistentVolumeClaim& claim);

  // Asks for a volume for the claim that can be used from the node.
  base::Task<ApiResult<api::PersistentVolumeClaim>> SelectNode(const api::PersistentVolumeClaim& claim,
                                                               std::string node);

 private:
  ApiClient& client_;
};

}  // namespace berth::client
