#include "server/dump.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

namespace berth::server {
namespace {

using cluster::NodeRow;
using cluster::PodSlot;

void AppendPod(const cluster::Cluster& cluster, PodSlot slot, std::string& out) {
  const api::PodRecord& pod = cluster.pods().record(slot);
  fmt::format_to(std::back_inserter(out), "name: {}, namespace: {}, uid: {}, phase: {}, nominated node: {}\n",
                 pod.name, pod.namespace_, pod.uid, pod.phase, pod.nominated_node_name);
}

// As Go prints its struct.
struct Amounts {
  std::array<std::int64_t, cluster::kPods.index() + 1> fixed{};
  std::map<std::string_view, std::int64_t> scalars;

  void Add(const cluster::Cluster& cluster, cluster::ResourceId resource, std::int64_t amount) {
    if (resource.index() < fixed.size()) {
      fixed[resource.index()] = amount;
    } else if (amount != 0) {
      scalars.emplace(cluster.resources().Name(resource), amount);
    }
  }
  std::string Text(std::int64_t pods) const {
    std::string text;
    for (const auto& [name, value] : scalars) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, value);
    }
    return fmt::format(
        "&{{MilliCPU:{} Memory:{} EphemeralStorage:{} AllowedPodNumber:{} ScalarResources:map[{}]}}",
        fixed[cluster::kCpu.index()], fixed[cluster::kMemory.index()],
        fixed[cluster::kEphemeralStorage.index()], pods, text);
  }
};

void AppendNode(const cluster::Cluster& cluster, NodeRow row, std::string& out) {
  const cluster::NodeTable& nodes = cluster.nodes();
  Amounts requested;
  Amounts allocatable;
  nodes.ForEachAmount(row, [&](cluster::ResourceId resource, std::int64_t offered, std::int64_t taken) {
    requested.Add(cluster, resource, taken);
    allocatable.Add(cluster, resource, offered);
  });
  fmt::format_to(std::back_inserter(out),
                 "Node name: {}\nDeleted: {}\nRequested Resources: {}\nAllocatable Resources:{}\nScheduled "
                 "Pods(number: {}):\n",
                 nodes.name(row), !nodes.exists(row), requested.Text(0),
                 allocatable.Text(nodes.pod_limit()[row.index()]), nodes.pods(row).size());
  for (const PodSlot pod : nodes.pods(row)) AppendPod(cluster, pod, out);
  const std::span<const PodSlot> nominated = cluster.NominatedTo(row);
  if (nominated.empty()) return;
  fmt::format_to(std::back_inserter(out), "Nominated Pods(number: {}):\n", nominated.size());
  for (const PodSlot pod : nominated) AppendPod(cluster, pod, out);
}

std::vector<NodeRow> LiveRows(const cluster::NodeTable& nodes) {
  std::vector<NodeRow> rows;
  for (std::size_t i = 0; i < nodes.row_count(); ++i) {
    const NodeRow row(static_cast<std::uint32_t>(i));
    if (nodes.IsLive(row)) rows.push_back(row);
  }
  std::ranges::sort(rows, {}, [&](NodeRow row) { return nodes.name(row); });
  return rows;
}

}  // namespace

std::string DumpNodes(const cluster::Cluster& cluster) {
  std::string out;
  for (const NodeRow row : LiveRows(cluster.nodes())) {
    if (!out.empty()) out += '\n';
    AppendNode(cluster, row, out);
  }
  return out;
}

std::string DumpQueue(const cluster::Cluster& cluster, const queue::SchedulingQueue& queue) {
  constexpr std::array kPlaces = {queue::Place::kActive, queue::Place::kBackoff, queue::Place::kErrorBackoff,
                                  queue::Place::kUnschedulable};
  std::string out;
  for (const queue::Place place : kPlaces) {
    for (const queue::SchedulingQueue::Entry& entry : queue.List(place)) {
      if (entry.members.empty()) AppendPod(cluster, entry.pod.id, out);
      for (const auto& member : entry.members) AppendPod(cluster, member.id, out);
    }
  }
  return out;
}

std::string CompareCache(const cluster::Cluster& cluster) {
  const cluster::NodeTable& nodes = cluster.nodes();
  const cluster::PodTable& pods = cluster.pods();
  std::string out;
  std::size_t placed = 0;
  for (const NodeRow row : LiveRows(nodes)) {
    std::int64_t milli_cpu = 0;
    std::int64_t memory = 0;
    for (const PodSlot pod : nodes.pods(row)) {
      if (!pods.IsLive(pod) || pods.row(pod) != row) {
        fmt::format_to(std::back_inserter(out), "node {} lists a pod that is not on it\n", nodes.name(row));
        continue;
      }
      ++placed;
      milli_cpu += cluster.requests(pod).milli_cpu;
      memory += cluster.requests(pod).memory;
    }
    if (milli_cpu != nodes.requested(cluster::kCpu)[row.index()] ||
        memory != nodes.requested(cluster::kMemory)[row.index()]) {
      fmt::format_to(std::back_inserter(out), "node {} has another sum of requests than its pods\n",
                     nodes.name(row));
    }
  }
  const std::size_t expected =
      pods.count(cluster::PodState::kAssumed) + pods.count(cluster::PodState::kAdded);
  if (placed != expected) {
    fmt::format_to(std::back_inserter(out), "{} pods have a node and {} are on one\n", expected, placed);
  }
  return out;
}

}  // namespace berth::server
