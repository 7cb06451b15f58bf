#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/pod_template.h"
#include "base/ids.h"
#include "cluster/cluster.h"
#include "framework/plan.h"
#include "framework/profile.h"
#include "framework/seen_keys.h"

namespace berth::framework {

class Cycle;

// What plans are made for. Requests are part of it because those of a pod that is being resized are not its
// template's.
struct PlanKey {
  base::Versioned<api::TemplateId> template_id;
  cluster::RequestsId requests;

  bool operator==(const PlanKey&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const PlanKey& k) {
    return H::combine(std::move(h), k.template_id, k.requests);
  }
};

// The plans of all plugins of a profile for one key. Holds the template that the plans point into, and a copy
// of the requests: an id of requests that came back with other amounts is noticed by comparing.
struct PlanSet {
  PlanKey key;
  api::PodTemplateRef spec;
  cluster::Requests requests;
  std::vector<std::unique_ptr<Plan>> owned;  // by PluginIndex; null: the plugin made none
  std::vector<Plan*> plans;
  std::uint64_t last_used = 0;
};

// Plans are cheap to make and small; the cache is there so that they are not made per pod. Where each pod has
// a template of its own they would add up all the same: sets that were used once are kept while they are
// among the latest. Sets whose template is gone are dropped by Collect.
class PlanCache {
 public:
  explicit PlanCache(const Profile& profile) : profile_(profile) {}

  // Shared, because a view keeps the plans that its columns were computed with. Valid until the next call.
  const std::shared_ptr<PlanSet>& Use(const Cycle& cycle);
  // Of the cycle's pod, not from the cache and not kept in it.
  std::shared_ptr<PlanSet> MakeAnew(const Cycle& cycle) const;
  // Drops sets whose template is gone or that were last used before `step`.
  void Collect(const cluster::Cluster& cluster, std::uint64_t step);
  void clear();
  std::size_t size() const { return sets_.size(); }

 private:
  struct Entry {
    std::shared_ptr<PlanSet> set;
    bool came_back = false;
  };

  // Of those that were used once only the latest stay.
  void RememberOnce(const PlanKey& key);

  const Profile& profile_;
  absl::flat_hash_map<PlanKey, Entry> sets_;
  SeenKeys seen_;
  std::deque<PlanKey> once_;  // in the order in which they came; some came back since, or are gone
};

}  // namespace berth::framework
