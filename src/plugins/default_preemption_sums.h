#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "plugins/default_preemption_search.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {

// How much of the resource the pod takes from what a node has left.
std::int64_t SummedAmount(const cluster::Requests& requests, cluster::ResourceId resource);

// Finds victims by sums instead of dry runs. That is exact for pods of which every filter either looks at no
// pod of the node at all, or is NodeResourcesFit, whose question is one of sums: plain pods, that is, and
// most others. Where it is not, it says so and a dry run is made. Pods that are nominated to the node count
// as if they were there: the dry run asks with and without them, and of sums the former is the stricter
// question.
//
// Cost of a node: O(its pods of lower priority and those nominated to it), a few comparisons each; nothing is
// placed or displaced.
class VictimSums {
 public:
  explicit VictimSums(framework::Cycle& cycle);

  // Of rows that will be asked for: which of them pass the filters that look at no pod. All at once, since a
  // filter judges many rows in little more time than one.
  void Prepare(std::span<const cluster::NodeRow> rows);

  // The pod would fit if all pods of lower priority went. False: a dry run has to say.
  bool FitsOnceEmptied(cluster::NodeRow row);
  // Then, for the same row: the pod still fits if this pod stays, besides those that were kept before.
  bool Keep(cluster::PodSlot pod);
  // The same as a question.
  bool CouldKeep(cluster::PodSlot pod) const;

 private:
  using Filter = framework::Placed<framework::FilterPoint>;

  bool Sort(const Filter& filter);
  // Takes what pods that are nominated to the row ask for from what is left. False: not enough is.
  bool TakeNominated(cluster::NodeRow row);

  framework::Cycle& cycle_;
  bool applies_ = true;
  std::vector<const Filter*> constant_;  // their verdict stays, whoever goes
  std::vector<NodeResourcesFit::Asked> asked_;
  bool counts_pods_ = false;
  base::Bitset passes_;  // the constant filters
  // Of the row that is looked at: what is left beyond what the pod itself takes, as asked_.
  std::vector<std::int64_t> left_;
  std::int64_t pods_left_ = 0;

  // Kept for their memory.
  std::vector<cluster::NodeRow> rows_;
  std::vector<framework::RejectionId> refusals_;
};

}  // namespace berth::plugins
