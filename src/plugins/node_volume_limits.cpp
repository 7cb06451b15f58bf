#include "plugins/node_volume_limits.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "cluster/object_store.h"
#include "plugins/node_volume_limits_index.h"
#include "plugins/node_volume_limits_volumes.h"
#include "plugins/pod_signatures.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_csi_nodes.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::RejectionId;
using framework::Status;

constexpr framework::ReasonText kNodeVolumeLimitsReasons[] = {
    {Code::kUnschedulable, "node(s) exceed max volume count"},
};

bool MayAttach(const api::PodSpec& spec) {
  return std::ranges::any_of(spec.volumes, [](const api::Volume& volume) {
    const api::VolumeSource& source = volume.volume_source;
    return source.persistent_volume_claim || source.ephemeral || InTreePluginOf(source);
  });
}

// What the pod adds to a node, with or without a CSINode there.
class Wanted {
 public:
  Wanted(const framework::Cycle& cycle, const AttachedVolumes& attached, bool check_installed, bool migrated)
      : attached_(attached) {
    PodAttachments found = AttachmentsOf(cycle.cluster(), cycle.record(),
                                         {.migrated = migrated, .missing_claim_is_error = true});
    error = std::move(found.error);
    if (error) return;
    for (CsiVolume& volume : found.volumes) Add(std::move(volume));
    std::ranges::sort(drivers_, {}, &Driver::name);
    if (!check_installed) return;
    const auto& table = cycle.cluster().objects().Of<api::CSIDriver>();
    for (Driver& driver : drivers_) {
      const auto object = table.Find(driver.name);
      driver.must_be_installed = object && object->spec.prevent_pod_scheduling_if_missing.value_or(false);
    }
  }

  std::optional<PodAttachments::Error> error;

  bool empty() const { return drivers_.empty(); }

  // A node may refuse it for another reason than that its limit is reached.
  bool IsSpecial() const {
    return error ||
           std::ranges::any_of(drivers_, [](const Driver& driver) { return driver.must_be_installed; });
  }

  // No node can be full, whatever of it is attached there already.
  bool FitsEverywhere() const {
    return std::ranges::all_of(drivers_, [&](const Driver& driver) {
      return static_cast<std::size_t>(std::max(0, attached_.LeastRoom(driver.name))) >= driver.volumes.size();
    });
  }

  // Only how many they are counts, since no node has one of them.
  bool IsAttachedNowhere() const {
    return std::ranges::all_of(drivers_, [](const Driver& driver) {
      return std::ranges::none_of(driver.volumes, [](const Volume& volume) { return volume.id.IsValid(); });
    });
  }
  void AppendCounts(framework::Scope& words) const {
    for (const Driver& driver : drivers_) {
      words.AddText(driver.name);
      words.Add(std::uint64_t{driver.volumes.size()});
    }
  }

  // The rows from `first` on that may be full, as bits.
  std::uint64_t Suspects(std::size_t first, std::size_t count) const {
    std::uint64_t bits = 0;
    for (const Driver& driver : drivers_) {
      const std::span<const std::int32_t> room = attached_.RoomFor(driver.name);
      const auto wanted = static_cast<std::int32_t>(driver.volumes.size());
      const std::size_t end = std::min(first + count, room.size());
      for (std::size_t row = first; row < end; ++row) {
        bits |= std::uint64_t{room[row] < wanted} << (row - first);
      }
    }
    return bits;
  }

  // The first by name; null: all are there that must be.
  const std::string* MissingDriver(const api::CSINode* node) const {
    for (const Driver& driver : drivers_) {
      if (driver.must_be_installed && (node == nullptr || !FindDriver(*node, driver.name))) {
        return &driver.name;
      }
    }
    return nullptr;
  }

  bool Exceeds(const api::CSINode& node, cluster::NodeRow row) const {
    return std::ranges::any_of(drivers_, [&](const Driver& driver) {
      const api::CSINodeDriver* const there = FindDriver(node, driver.name);
      if (there == nullptr || !there->allocatable || !there->allocatable->count) return false;
      std::int64_t added = 0;
      for (const Volume& volume : driver.volumes) added += attached_.IsUsed(row, volume.id) ? 0 : 1;
      return added > 0 && attached_.Count(row, driver.id) + added > *there->allocatable->count;
    });
  }

 private:
  struct Volume {
    std::string handle;
    AttachedId id;  // invalid: attached nowhere
  };
  struct Driver {
    std::string name;
    DriverId id;
    bool must_be_installed = false;
    std::vector<Volume> volumes;  // each once
  };

  void Add(CsiVolume volume) {
    auto driver = std::ranges::find(drivers_, volume.driver, &Driver::name);
    if (driver == drivers_.end()) {
      drivers_.push_back({.name = volume.driver,
                          .id = attached_.FindDriver(volume.driver),
                          .must_be_installed = false,
                          .volumes = {}});
      driver = drivers_.end() - 1;
    }
    if (std::ranges::find(driver->volumes, volume.handle, &Volume::handle) != driver->volumes.end()) return;
    const AttachedId id = attached_.Find(volume);
    driver->volumes.push_back({std::move(volume.handle), id});
  }

  // Of two entries with one name the last counts.
  static const api::CSINodeDriver* FindDriver(const api::CSINode& node, std::string_view name) {
    const auto& drivers = node.spec.drivers;
    const auto found = std::find_if(drivers.rbegin(), drivers.rend(),
                                    [&](const api::CSINodeDriver& driver) { return driver.name == name; });
    return found == drivers.rend() ? nullptr : &*found;
  }

  const AttachedVolumes& attached_;
  std::vector<Driver> drivers_;
};

// Refusals that name something, made once and not per row.
class Refusals {
 public:
  explicit Refusals(framework::NodeSelection& nodes) : nodes_(nodes) {}

  RejectionId ForClaim(const std::string& text) {
    if (!claim_.IsRefusal()) claim_ = nodes_.Intern(Code::kUnschedulableAndUnresolvable, {{"", text}});
    return claim_;
  }
  RejectionId ForDriver(const std::string& name) {
    const auto known = std::ranges::find(drivers_, name, &NamedRefusal::first);
    if (known != drivers_.end()) return known->second;
    const RejectionId made = nodes_.Intern(
        Code::kUnschedulable, {{"", fmt::format("{} CSI driver is not installed on the node", name)}});
    drivers_.emplace_back(name, made);
    return made;
  }

 private:
  using NamedRefusal = std::pair<std::string, RejectionId>;

  framework::NodeSelection& nodes_;
  RejectionId claim_;
  std::vector<NamedRefusal> drivers_;
};

bool HasLimits(const api::CSINode& node) {
  return std::ranges::any_of(node.spec.drivers, [](const api::CSINodeDriver& driver) {
    return driver.allocatable && driver.allocatable->count;
  });
}

}  // namespace

NodeVolumeLimits::NodeVolumeLimits(const framework::PluginSetup& setup)
    : check_installed_(setup.features.volume_limit_scaling),
      csi_nodes_(setup.cluster.UseExtension<CsiNodes>()),
      attached_(setup.cluster.UseExtension<AttachedVolumes>()),
      waiting_(setup.cluster.UseExtension<cluster::ClaimIndex>()) {}

std::span<const framework::ReasonText> NodeVolumeLimits::Reasons() const { return kNodeVolumeLimitsReasons; }

std::unique_ptr<framework::Plan> NodeVolumeLimits::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<framework::Plan>();
  // Claims, and what CSINodes say, are in no fact of a row: asked at every attempt.
  plan->filters = MayAttach(input.spec);
  return plan;
}

framework::PreFilterResult NodeVolumeLimits::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred() || FitsEverywhere(cycle)) return {Status::Skip()};
  return {};
}

// Pods that are expected on nodes count there when those are judged, but not here.
bool NodeVolumeLimits::FitsEverywhere(const framework::Cycle& cycle) const {
  if (attached_.HasErrors() || !cycle.cluster().nominator().empty()) return false;
  const Wanted without_csi_node(cycle, attached_, check_installed_, false);
  if (without_csi_node.IsSpecial()) return false;
  const Wanted with_csi_node(cycle, attached_, check_installed_, true);
  if (with_csi_node.IsSpecial() || (with_csi_node.empty() && !HasClaims(cycle.spec()))) return false;
  return with_csi_node.FitsEverywhere();
}

void NodeVolumeLimits::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  const Wanted without_csi_node(cycle, attached_, check_installed_, false);
  const Wanted with_csi_node(cycle, attached_, check_installed_, true);
  Refusals refusals(nodes);
  const auto judge = [&](cluster::NodeRow row) -> RejectionId {
    const api::CSINode* const node = csi_nodes_.At(row);
    const Wanted& wanted = node != nullptr ? with_csi_node : without_csi_node;
    if (wanted.error) {
      if (wanted.error->not_found) return refusals.ForClaim(wanted.error->text);
      nodes.Fail(row, Status::Error(wanted.error->text));
      return framework::kAccepted;
    }
    if (wanted.empty()) return framework::kAccepted;
    if (const std::string* const missing = wanted.MissingDriver(node)) return refusals.ForDriver(*missing);
    if (node == nullptr || !HasLimits(*node)) return framework::kAccepted;
    if (const std::optional<std::string> error = attached_.ErrorOn(row)) {
      nodes.Fail(row, Status::Error(*error));
      return framework::kAccepted;
    }
    return wanted.Exceeds(*node, row) ? nodes.Fixed(kTooManyVolumes) : framework::kAccepted;
  };
  if (attached_.HasErrors() || without_csi_node.IsSpecial() || with_csi_node.IsSpecial()) {
    nodes.Judge(judge);
    return;
  }
  nodes.JudgeSuspects(
      [&](std::size_t first, std::size_t count) { return with_csi_node.Suspects(first, count); }, judge);
}

bool NodeVolumeLimits::AppendLikeness(const framework::Cycle& cycle, framework::Scope& words) const {
  // Pods that are expected on nodes bring volumes that are attached nowhere yet.
  if (attached_.HasErrors() || !cycle.cluster().nominator().empty()) return false;
  const Wanted without_csi_node(cycle, attached_, check_installed_, false);
  const Wanted with_csi_node(cycle, attached_, check_installed_, true);
  if (without_csi_node.IsSpecial() || with_csi_node.IsSpecial() || !with_csi_node.IsAttachedNowhere()) {
    return false;
  }
  with_csi_node.AppendCounts(words);
  return true;
}

bool NodeVolumeLimits::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignVolumes(pod.record(), signature);
  return true;
}

}  // namespace berth::plugins
