#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod_record.h"
#include "api/workloads.h"
#include "cluster/cluster.h"
#include "framework/features.h"
#include "framework/plugin_args.h"
#include "plugins/topology_harness.h"

namespace berth::plugins::test {

// The two topology plugins as their rules are written down: maps of strings, every node and pod looked at
// anew. The plugins may be clever only because this agrees with them.
struct NaiveTopology {
  struct Placed {
    cluster::PodRecordRef pod;
    std::string node;
    // 0: it is there. Else a trial added (+1) or removed (-1) it after everything was counted.
    int trial = 0;
  };
  std::vector<cluster::NodeRef> nodes;
  std::vector<Placed> pods;
  std::map<std::string, api::StringMap> namespaces;
  std::vector<api::Service> services;
  framework::PluginArgs args;
  framework::Features features = framework::Features::Upstream();

  // What is there, without the pods that wait.
  static NaiveTopology Of(const cluster::Cluster& cluster);

  Answer Spread(const api::PodRecord& pod, const TopologyHarness::Question& question) const;
  Answer Affinity(const api::PodRecord& pod, const TopologyHarness::Question& question) const;
};

}  // namespace berth::plugins::test
