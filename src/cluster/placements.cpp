#include "cluster/placements.h"

#include "base/check.h"

namespace berth::cluster {

Placements::Placements(const Tables& tables, std::size_t change_log_capacity)
    : t_(tables), change_log_(change_log_capacity) {}

NodeTable::PodUse Placements::UseOf(PodSlot pod) const {
  const PodFacts& facts = t_.pods.facts(pod);
  return {pod, t_.factory.requests(facts.requests), t_.factory.ports(facts.template_id), facts.priority};
}

void Placements::Place(PodSlot pod, NodeRow row) {
  BERTH_CHECK(t_.nodes.IsLive(row) && !t_.pods.row(pod).IsValid());
  t_.pods.SetPosition(pod, t_.nodes.AddPod(row, UseOf(pod)));
  t_.pods.SetRow(pod, row);
  Count(pod, row, +1);
  NotifyPlaced(pod, row);
  Remember({Kind::kPlaced, pod, row, {}, 0});
}

NodeRow Placements::Displace(PodSlot pod) {
  const NodeRow row = t_.pods.row(pod);
  BERTH_CHECK(row.IsValid());
  const std::uint32_t position = t_.pods.position(pod);
  const PodSlot moved = t_.nodes.RemovePod(row, UseOf(pod), position);
  if (moved.IsValid()) t_.pods.SetPosition(moved, position);
  t_.pods.SetRow(pod, {});
  Count(pod, row, -1);
  NotifyDisplaced(pod, row);
  Remember({Kind::kDisplaced, pod, row, {}, position});
  return row;
}

void Placements::Nominate(PodSlot pod, NodeNameId node) {
  t_.nominator.Append(pod, node);
  LogNomination(node);
  Remember({Kind::kNominated, pod, {}, node, 0});
}

void Placements::Unnominate(PodSlot pod) {
  const auto entry = t_.nominator.Remove(pod);
  if (!entry) return;
  LogNomination(entry->node);
  if (speculating()) {
    Remember({Kind::kUnnominated, pod, {}, entry->node, entry->position});
  } else {
    t_.nodes.ReleaseName(entry->node);
  }
}

void Placements::Count(PodSlot pod, NodeRow row, std::int32_t delta) {
  const PodFacts& facts = t_.pods.facts(pod);
  t_.counters.Apply(t_.matchers.MatchersOf(facts.pod_class), {t_.pods.terminating(pod), row, delta, mode()});
  if (facts.terms.IsValid()) t_.terms.Apply(facts.terms, row, delta);
  if (!facts.claims.empty()) t_.pods.CountClaims(pod, delta);
  Log(pod, row);
}

void Placements::SumDomains(NodeRow row, std::int32_t delta) {
  BERTH_CHECK(!speculating());
  for (const PodSlot pod : t_.nodes.pods(row)) {
    const PodFacts& facts = t_.pods.facts(pod);
    t_.counters.ApplyToDomains(t_.matchers.MatchersOf(facts.pod_class),
                               {t_.pods.terminating(pod), row, delta, CounterTable::Mode::kReal});
    if (facts.terms.IsValid()) t_.terms.Apply(facts.terms, row, delta);
  }
}

void Placements::CountNamespace(NamespaceId namespace_, std::int32_t delta) {
  BERTH_CHECK(!speculating());
  for (const PodClassId pod_class : t_.classes.Find({namespace_, {}, {}})) {
    scratch_.clear();
    for (const MatcherId matcher : t_.matchers.MatchersOf(pod_class)) {
      if (t_.matchers.ReadsNamespaceLabels(matcher)) scratch_.push_back(matcher);
    }
    if (scratch_.empty()) continue;
    t_.pods.ForEachInClass(pod_class, [&](PodSlot pod) {
      const NodeRow row = t_.pods.row(pod);
      if (!row.IsValid()) return;
      t_.counters.Apply(scratch_, {t_.pods.terminating(pod), row, delta, CounterTable::Mode::kReal});
    });
  }
}

void Placements::CountExisting(CounterId counter) {
  const MatcherId matcher = t_.counters.matcher(counter);
  using Mode = CounterTable::Mode;
  for (const PodClassId pod_class : t_.matchers.ClassesOf(matcher)) {
    t_.pods.ForEachInClass(pod_class, [&](PodSlot pod) {
      const NodeRow row = t_.pods.row(pod);
      if (row.IsValid()) t_.counters.Apply(counter, {t_.pods.terminating(pod), row, +1, Mode::kReal});
    });
  }
  // What open speculations did was just counted by the rules for real pods; it has to be as if the counter
  // had been there all along, or the rollback would not fit.
  for (const Undo& undo : journal_) {
    if (undo.kind != Kind::kPlaced && undo.kind != Kind::kDisplaced) continue;
    if (!t_.matchers.Matches(matcher, t_.classes.Get(t_.pods.facts(undo.pod).pod_class))) continue;
    const std::int32_t delta = undo.kind == Kind::kPlaced ? +1 : -1;
    const bool terminating = t_.pods.terminating(undo.pod);
    t_.counters.Apply(counter, {terminating, undo.row, -delta, Mode::kReal});
    t_.counters.Apply(counter, {terminating, undo.row, delta, Mode::kSpeculative});
  }
}

void Placements::NodeChanged(NodeRow row, Facts facts) {
  BERTH_CHECK(!speculating());
  change_log_.Append(row, facts);
  for (Extension* extension : extensions_) extension->OnNodeChanged(row, facts);
}

void Placements::AddExtensionsTo(Digester& digest) const {
  for (const Extension* extension : extensions_) extension->AddTo(digest);
}

void Placements::Log(PodSlot pod, NodeRow row) {
  const PodFacts& facts = t_.pods.facts(pod);
  Facts changed = kResourcesFact | kPodsFact;
  if (!t_.factory.ports(facts.template_id).empty()) changed |= kPortsFact;
  if (!facts.record->spec->spec.volumes.empty()) changed |= kVolumesFact;
  if (!facts.record->spec->spec.resource_claims.empty() ||
      facts.record->claims().extended_resource_claim_status) {
    changed |= kDevicesFact;
  }
  change_log_.Append(row, changed);
}

void Placements::LogNomination(NodeNameId node) {
  if (const NodeRow row = t_.nodes.Find(node); row.IsValid()) change_log_.Append(row, kNominationsFact);
}

void Placements::NotifyPlaced(PodSlot pod, NodeRow row) {
  for (Extension* extension : extensions_) extension->OnPodPlaced(pod, row);
}

void Placements::NotifyDisplaced(PodSlot pod, NodeRow row) {
  // The opposite order, so that an extension may rely on those before it.
  for (auto it = extensions_.rbegin(); it != extensions_.rend(); ++it) (*it)->OnPodDisplaced(pod, row);
}

std::size_t Placements::Open() {
  ++depth_;
  return journal_.size();
}

void Placements::RollBack(std::size_t mark) {
  BERTH_CHECK(depth_ > 0 && mark <= journal_.size());
  while (journal_.size() > mark) {
    const Undo undo = journal_.back();
    journal_.pop_back();
    Invert(undo);
  }
  --depth_;
}

void Placements::Remember(const Undo& undo) {
  if (speculating()) journal_.push_back(undo);
}

void Placements::Invert(const Undo& undo) {
  switch (undo.kind) {
    case Kind::kPlaced: {
      const PodSlot moved = t_.nodes.RemovePod(undo.row, UseOf(undo.pod), t_.pods.position(undo.pod));
      BERTH_CHECK(!moved.IsValid());  // it came last, and what came after it is gone again
      t_.pods.SetRow(undo.pod, {});
      Count(undo.pod, undo.row, -1);
      NotifyDisplaced(undo.pod, undo.row);
      break;
    }
    case Kind::kDisplaced: {
      const auto position = static_cast<std::uint32_t>(undo.position);
      const PodSlot moved = t_.nodes.ReinsertPod(undo.row, UseOf(undo.pod), position);
      if (moved.IsValid()) {
        t_.pods.SetPosition(moved, static_cast<std::uint32_t>(t_.nodes.pods(undo.row).size() - 1));
      }
      t_.pods.SetPosition(undo.pod, position);
      t_.pods.SetRow(undo.pod, undo.row);
      Count(undo.pod, undo.row, +1);
      NotifyPlaced(undo.pod, undo.row);
      break;
    }
    case Kind::kNominated:
      t_.nominator.Remove(undo.pod);
      LogNomination(undo.node);
      t_.nodes.ReleaseName(undo.node);
      break;
    case Kind::kUnnominated:
      t_.nominator.Reinsert(undo.pod, {undo.node, undo.position});
      LogNomination(undo.node);
      break;
  }
}

}  // namespace berth::cluster
