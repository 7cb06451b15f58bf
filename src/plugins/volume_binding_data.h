#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/plan.h"
#include "framework/status.h"
#include "plugins/row_scores.h"
#include "plugins/volume_binding_search.h"

// What VolumeBinding remembers of one pod until it is bound.
namespace berth::plugins {

// A volume that exists and was promised to a claim.
struct ReservedVolume {
  ClaimRef claim;
  VolumeRef chosen;
  VolumeRef promised;  // with the claim written into it; the server's own once that was written
  bool written = false;
};

// A claim for which a volume is to be made.
struct ReservedClaim {
  ClaimRef chosen;
  ClaimRef promised;  // with the node written into it
  ClaimRef stored;    // the server's own; null before it was written
};

struct ReservedVolumes {
  std::string node;
  std::vector<ReservedVolume> volumes;
  std::vector<ReservedClaim> claims;
};

struct PodBinding final : framework::CycleData {
  framework::Status status;  // of preparing the search
  bool all_bound = false;
  std::unique_ptr<VolumeSearch> search;     // of this cycle; null: it could not be prepared
  std::optional<ReservedVolumes> reserved;  // by Reserve
};

// What a view keeps: the storage that its verdicts are of, and what its rows score.
struct VolumeView final : framework::State, RowScores<std::int8_t> {
  StorageSeen seen;

  std::size_t MemoryBytes() const override {
    return sizeof(*this) + ScoresBytes() + seen.smallest.size() * sizeof(*seen.smallest.begin());
  }
};

}  // namespace berth::plugins
