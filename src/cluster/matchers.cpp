#include "cluster/matchers.h"

#include <algorithm>

#include "base/check.h"

namespace berth::cluster {
namespace {

// How well a requirement narrows a search: a few values, then presence of the key, then not at all.
enum class Narrows : std::uint8_t { kValues, kKey, kNot };

Narrows HowNarrow(const api::Requirement& requirement) {
  switch (requirement.op()) {
    case api::SelectorOperator::kIn:
    case api::SelectorOperator::kEquals:
    case api::SelectorOperator::kDoubleEquals:
      return Narrows::kValues;
    case api::SelectorOperator::kExists:
    case api::SelectorOperator::kGreaterThan:
    case api::SelectorOperator::kLessThan:
      return Narrows::kKey;
    case api::SelectorOperator::kNotIn:
    case api::SelectorOperator::kNotEquals:
    case api::SelectorOperator::kDoesNotExist:
      return Narrows::kNot;
  }
  return Narrows::kNot;
}

const api::Requirement* NarrowestRequirement(const api::Selector& selector) {
  const api::Requirement* best = nullptr;
  for (const api::Requirement& requirement : selector.requirements()) {
    const Narrows narrows = HowNarrow(requirement);
    if (narrows == Narrows::kValues) return &requirement;
    if (narrows == Narrows::kKey && best == nullptr) best = &requirement;
  }
  return best;
}

}  // namespace

base::Result<PodCondition> ConditionOf(const api::PodAffinityTerm& term, std::string_view owner_namespace,
                                       UnknownNamespace unknown) {
  auto selector = api::Selector::Compile(term.label_selector);
  if (!selector) return std::unexpected(selector.error());
  auto namespace_selector = api::Selector::Compile(term.namespace_selector);
  if (!namespace_selector) return std::unexpected(namespace_selector.error());
  std::vector<std::string> namespaces = term.namespaces;
  if (namespaces.empty() && !term.namespace_selector) namespaces.emplace_back(owner_namespace);
  return PodCondition{std::move(*selector), std::move(namespaces), std::move(*namespace_selector), unknown};
}

MatcherTable::MatcherTable(LabelTable& labels, NamespaceTable& namespaces, PodClassTable& classes)
    : labels_(labels), namespaces_(namespaces), classes_(classes) {}

MatcherId MatcherTable::Intern(std::span<const PodCondition> conditions) {
  Conditions value;
  for (const PodCondition& from : conditions) {
    Condition& condition =
        value.emplace_back(from.selector, std::vector<NamespaceId>(), from.namespace_selector, from.unknown);
    // A selector of everything, or of nothing, says the same about unknown namespaces either way.
    if (condition.namespace_selector.requirements().empty()) {
      condition.unknown = UnknownNamespace::kNeverSelected;
    }
    for (const std::string& name : from.namespaces) {
      const NamespaceId id = namespaces_.Intern(name);
      const auto place = std::ranges::lower_bound(condition.namespaces, id);
      if (place != condition.namespaces.end() && *place == id) {
        namespaces_.Release(id);  // named twice, needed once
      } else {
        condition.namespaces.insert(place, id);
      }
    }
  }
  const MatcherId id = matchers_.Intern(value);
  if (matchers_.References(id) > 1) {
    for (const Condition& condition : value) {
      for (const NamespaceId ns : condition.namespaces) namespaces_.Release(ns);
    }
    return id;
  }
  if (id.index() >= probes_.size()) probes_.resize(id.index() + 1);
  probes_[id.index()] = ProbesOf(value);
  for (const Probe& probe : probes_[id.index()]) {
    by_probe_[probe].push_back(id);
    if (probe.key.IsValid() && !probe.value.IsValid()) ++key_probes_;
  }
  ++version_;
  return id;
}

void MatcherTable::Release(MatcherId id) {
  if (matchers_.References(id) > 1) {
    matchers_.Release(id);
    return;
  }
  for (const Probe& probe : probes_[id.index()]) {
    const auto found = by_probe_.find(probe);
    std::erase(found->second, id);
    if (found->second.empty()) by_probe_.erase(found);
    if (probe.key.IsValid() && !probe.value.IsValid()) --key_probes_;
    if (probe.key.IsValid()) labels_.ReleaseKey(probe.key);
    if (probe.value.IsValid()) labels_.ReleaseValue(probe.value);
  }
  probes_[id.index()] = {};
  for (const Condition& condition : matchers_.Get(id)) {
    for (const NamespaceId ns : condition.namespaces) namespaces_.Release(ns);
  }
  matchers_.Release(id);
  ++version_;
}

bool MatcherTable::InScope(const Condition& condition, NamespaceId namespace_) const {
  if (std::ranges::binary_search(condition.namespaces, namespace_)) return true;
  if (condition.namespace_selector.matches_nothing()) return false;
  if (condition.namespace_selector.matches_everything()) return true;
  const LabelSetId labels = namespaces_.label_set(namespace_);
  if (!labels.IsValid() && condition.unknown == UnknownNamespace::kNeverSelected) return false;
  return condition.namespace_selector.Matches(labels_.View(labels));
}

bool MatcherTable::Meets(const Condition& condition, const PodClass& pod_class) const {
  return InScope(condition, pod_class.namespace_) &&
         condition.selector.Matches(labels_.View(pod_class.labels));
}

bool MatcherTable::Matches(MatcherId id, const PodClass& pod_class) const {
  return std::ranges::all_of(matchers_.Get(id),
                             [&](const Condition& condition) { return Meets(condition, pod_class); });
}

bool MatcherTable::SelectsEverything(MatcherId id) const {
  const Conditions& conditions = matchers_.Get(id);
  return conditions.size() == 1 && conditions.front().selector.matches_everything();
}

bool MatcherTable::ReadsNamespaceLabels(MatcherId id) const {
  return std::ranges::any_of(matchers_.Get(id), [](const Condition& condition) {
    return !condition.namespace_selector.requirements().empty();
  });
}

const MatcherTable::Condition* MatcherTable::Narrowest(const Conditions& conditions) {
  const Condition* best = nullptr;
  Narrows best_narrows = Narrows::kNot;
  for (const Condition& condition : conditions) {
    if (condition.selector.matches_nothing()) return nullptr;
    const api::Requirement* requirement = NarrowestRequirement(condition.selector);
    const Narrows narrows = requirement != nullptr ? HowNarrow(*requirement) : Narrows::kNot;
    if (best == nullptr || narrows < best_narrows) {
      best = &condition;
      best_narrows = narrows;
    }
  }
  return best;
}

std::vector<Probe> MatcherTable::ProbesOf(const Conditions& conditions) {
  const Condition* condition = Narrowest(conditions);
  if (condition == nullptr) return {};
  std::vector<NamespaceId> scopes;
  if (condition->namespace_selector.matches_nothing()) {
    scopes = condition->namespaces;
  } else {
    scopes.emplace_back();
  }
  const api::Requirement* requirement = NarrowestRequirement(condition->selector);
  std::vector<Probe> probes;
  for (const NamespaceId scope : scopes) {
    if (requirement == nullptr) {
      probes.push_back({scope, {}, {}});
    } else if (HowNarrow(*requirement) == Narrows::kKey) {
      probes.push_back({scope, labels_.InternKey(requirement->key()), {}});
    } else {
      const std::vector<std::string>& values = requirement->values();  // sorted, perhaps with repetitions
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0 && values[i] == values[i - 1]) continue;
        probes.push_back({scope, labels_.InternKey(requirement->key()), labels_.InternValue(values[i])});
      }
    }
  }
  return probes;
}

void MatcherTable::Collect(const Probe& probe, const PodClass& pod_class,
                           std::vector<MatcherId>& found) const {
  const auto list = by_probe_.find(probe);
  if (list == by_probe_.end()) return;
  for (const MatcherId id : list->second) {
    if (Matches(id, pod_class)) found.push_back(id);
  }
}

std::span<const MatcherId> MatcherTable::MatchersOf(PodClassId id) const {
  // Before somebody counts pods there may be as many classes as pods: their answers are not worth their
  // place.
  if (by_probe_.empty()) return {};
  if (id.index() >= answers_.size()) answers_.resize(id.index() + 1);
  Answer& answer = answers_[id.index()];
  if (answer.version == version_) return answer.matchers;
  answer.version = version_;
  answer.matchers.clear();
  const PodClass& pod_class = classes_.Get(id);
  for (const NamespaceId scope : {pod_class.namespace_, NamespaceId()}) {
    Collect({scope, {}, {}}, pod_class, answer.matchers);
    for (const Label& label : labels_.Labels(pod_class.labels)) {
      Collect({scope, label.key, label.value}, pod_class, answer.matchers);
      if (key_probes_ > 0) Collect({scope, label.key, {}}, pod_class, answer.matchers);
    }
  }
  std::ranges::sort(answer.matchers);
  return answer.matchers;
}

std::vector<PodClassId> MatcherTable::ClassesOf(MatcherId id) const {
  std::vector<PodClassId> found;
  const auto collect = [&](Probe probe) {
    // Classes are not listed by key alone.
    if (!probe.value.IsValid()) probe.key = {};
    for (const PodClassId pod_class : classes_.Find(probe)) {
      if (Matches(id, classes_.Get(pod_class))) found.push_back(pod_class);
    }
  };
  for (const Probe& probe : probes_[id.index()]) {
    if (probe.namespace_.IsValid()) {
      collect(probe);
    } else {
      namespaces_.ForEach([&](NamespaceId ns) { collect({ns, probe.key, probe.value}); });
    }
  }
  return found;
}

void MatcherTable::Forget(PodClassId id) {
  if (id.index() < answers_.size()) answers_[id.index()] = {};
}

}  // namespace berth::cluster
