#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/log.h"
#include "cycle/extenders.h"

// The part of extenders in preemption: which candidates are left, and who goes from them.
namespace berth::cycle {
namespace {

const NodeVictims* FindNode(std::span<const NodeVictims> victims, std::string_view node) {
  const auto found = std::ranges::lower_bound(victims, node, {}, &NodeVictims::node);
  return found == victims.end() || found->node != node ? nullptr : &*found;
}

}  // namespace

// Victims may be others than those that were shown, as long as they are on the node. Somebody who was shown
// and has gone meanwhile is no victim any more, and no mistake of the extender's.
base::Result<NodeVictims> Extenders::ReadVictims(const Extender& extender,
                                                 const ExtenderAnswer::Victims& answer,
                                                 const NodeVictims* shown) const {
  const cluster::NodeRow row = cluster_.nodes().Find(answer.node);
  if (shown == nullptr && (!row.IsValid() || !cluster_.nodes().exists(row))) {
    return base::Fail(fmt::format("nodeinfo not found for node name \"{}\"", answer.node));
  }
  NodeVictims victims{.node = answer.node, .pods = {}, .budget_violations = answer.budget_violations};
  for (const std::string& uid : answer.uids) {
    const bool was_shown = shown != nullptr &&
                           std::ranges::any_of(shown->pods, [&](const auto& pod) { return pod->uid == uid; });
    const cluster::PodSlot slot = cluster_.pods().Find(uid);
    if (slot.IsValid() && row.IsValid() && cluster_.pods().row(slot) == row) {
      victims.pods.push_back(cluster_.pods().facts(slot).record);
    } else if (!was_shown) {
      return base::Fail(
          fmt::format("extender: {} claims to preempt pod (UID: {}) on node: {}, but the pod is not found on "
                      "that node",
                      extender.spec.url_prefix, uid, answer.node));
    }
  }
  return victims;
}

base::Result<std::vector<NodeVictims>> Extenders::ReadVictims(const Extender& extender,
                                                              const ExtenderAnswer& answer,
                                                              std::span<const NodeVictims> shown) const {
  std::vector<NodeVictims> victims;
  for (const ExtenderAnswer::Victims& on_node : answer.victims) {
    if (on_node.uids.empty()) {
      if (!extender.spec.ignorable) {
        return base::Fail(fmt::format("expected at least one victim pod on node \"{}\"", on_node.node));
      }
      BERTH_LOG_WARNING("Ignoring node without victims", {"extender", extender.spec.url_prefix},
                        {"node", on_node.node});
      continue;
    }
    auto read = ReadVictims(extender, on_node, FindNode(shown, on_node.node));
    if (!read) return std::unexpected(std::move(read.error()));
    if (!read->pods.empty()) victims.push_back(*std::move(read));
  }
  std::ranges::sort(victims, {}, &NodeVictims::node);
  return victims;
}

Extenders::Candidates Extenders::StillThere(std::span<const NodeVictims> victims) const {
  const cluster::PodTable& pods = cluster_.pods();
  Candidates candidates;
  for (const NodeVictims& on_node : victims) {
    const cluster::NodeRow row = cluster_.nodes().Find(on_node.node);
    if (!row.IsValid() || !cluster_.nodes().exists(row)) continue;
    framework::PreemptionCandidate candidate{
        .row = row, .victims = {}, .budget_violations = on_node.budget_violations};
    for (const cluster::PodRecordRef& pod : on_node.pods) {
      const cluster::PodSlot slot = pods.Find(pod->uid);
      if (slot.IsValid() && pods.row(slot) == row) candidate.victims.push_back(slot);
    }
    std::ranges::stable_sort(candidate.victims, std::greater<>(),
                             [&](cluster::PodSlot pod) { return pods.priority(pod); });
    if (!candidate.victims.empty()) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

base::Task<base::Result<Extenders::Candidates>> Extenders::Preempt(cluster::PodRecordRef pod,
                                                                   Candidates candidates) {
  std::vector<NodeVictims> victims;
  for (const framework::PreemptionCandidate& candidate : candidates) {
    NodeVictims on_node{.node = std::string(cluster_.nodes().name(candidate.row)),
                        .pods = {},
                        .budget_violations = candidate.budget_violations};
    for (const cluster::PodSlot victim : candidate.victims) {
      on_node.pods.push_back(cluster_.pods().facts(victim).record);
    }
    victims.push_back(std::move(on_node));
  }
  std::ranges::sort(victims, {}, &NodeVictims::node);
  for (const Extender& extender : extenders_) {
    if (victims.empty()) break;
    if (!IsAsked(extender, ExtenderVerb::kPreempt, *pod)) continue;
    ExtenderCall call{
        .extender = extender.number, .verb = ExtenderVerb::kPreempt, .pod = pod, .victims = victims};
    base::Result<ExtenderAnswer> answer = co_await calls_.Ask(std::move(call));
    base::Result<std::vector<NodeVictims>> left;
    if (answer) {
      left = ReadVictims(extender, *answer, victims);
    } else {
      left = std::unexpected(std::move(answer.error()));
    }
    if (left) {
      victims = *std::move(left);
      continue;
    }
    if (!extender.spec.ignorable) co_return std::unexpected(std::move(left.error()));
    BERTH_LOG_WARNING("Skipping extender as it returned error and has ignorable flag set",
                      {"extender", extender.spec.url_prefix}, {"err", left.error().message});
  }
  co_return StillThere(victims);
}

}  // namespace berth::cycle
