#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/ids.h"
#include "framework/rejections.h"
#include "framework/status.h"

namespace berth::framework {

// Names of plugins, ascending, each once.
using PluginNames = std::vector<std::string>;
void AddName(PluginNames& names, std::string_view name);

// Why no node was found. The refusals stay where the attempt wrote them: valid until the next attempt begins.
struct Diagnosis {
  std::size_t node_count = 0;  // all nodes that there are
  // By row; kAccepted where nothing is said about the row.
  std::span<const RejectionId> refusals;
  const RejectionTable* table = nullptr;           // null: there are no refusals
  std::span<const std::string_view> plugin_names;  // by PluginIndex
  // For the rows about which nothing is said: they were not looked at, so no eviction is known to help there.
  Status absent{Code::kUnschedulableAndUnresolvable};
  std::string pre_filter_message;
  std::string post_filter_message;
  PluginNames unschedulable_plugins;
  PluginNames pending_plugins;

  // What is said about the row, or about the absent ones.
  Status StatusOf(cluster::NodeRow row) const;
  // Preemption looks only at nodes where this is kUnschedulable.
  Code CodeOf(cluster::NodeRow row) const;
  // A rejected status of a plugin: the plugin will be asked which events may help.
  void AddPluginOf(const Status& status);
  // The same for every refusal. O(rows).
  void AddPluginsOfRefusals();
};

// The exact text that users read in the pod's condition and event: "0/3 nodes are available: 3 Insufficient
// cpu."
std::string FitErrorMessage(const Diagnosis& diagnosis);

// What a narrowing by PreFilter says: of the nodes outside, and when nothing is left.
std::string OutsideNarrowedMessage(const PluginNames& narrowing);
std::string NothingLeftMessage(const PluginNames& narrowing);

}  // namespace berth::framework
