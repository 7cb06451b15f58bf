#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Brings PersistentVolumeClaims and PersistentVolumes together, and plays the part of every CSI driver's
// provisioner: a claim whose class has one gets a volume made for it after a while.
//
// A claim whose class says WaitForFirstConsumer is left to the scheduler: it either points a volume at the
// claim, or notes the node in the claim's annotation, and then a volume is made for that node's zone.
class VolumeController final : public ChangeReceiver {
 public:
  struct Options {
    bool provisions = true;  // in the name of the drivers; else somebody outside does it
    base::Duration provision_delay = std::chrono::seconds(1);
  };

  VolumeController(const ControllerContext& context, Options options);
  ~VolumeController() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  using Keys = std::set<std::string, std::less<>>;
  using ByClass = std::map<std::string, Keys, std::less<>>;

  void LearnClaim(const Change& change);
  void LearnVolume(const Change& change);
  void LookAtClaim(const std::string& key);
  void LookAtVolume(const std::string& name);
  // A claim that has no volume yet.
  void FindVolumeFor(const Revision& claim, const boost::json::object& document);
  RevisionPtr PointingAt(const std::string& key, const boost::json::object& claim) const;
  RevisionPtr BestMatch(const boost::json::object& claim) const;
  bool Provision(const Revision& claim, const boost::json::object& document,
                 const boost::json::object& storage_class);
  void Bind(const Revision& claim, const Revision& volume);
  void SetPhase(const Revision& object, std::string_view phase);

  const ControllerContext context_;
  const Options options_;
  const Resource& claims_;
  const Resource& volumes_;
  const Resource& classes_;
  ByClass pending_;                                                     // claims without a volume, by class
  ByClass free_;                                                        // volumes without a claim, by class
  std::map<std::string, Keys, std::less<>> pointing_;                   // volumes, by the claim they name
  std::map<std::string, base::TimePoint, std::less<>> provisioned_at_;  // by uid of the claim
  WorkQueue claim_queue_;
  WorkQueue volume_queue_;
  std::vector<SubscriptionId> subscriptions_;
};

}  // namespace berth::sandbox
