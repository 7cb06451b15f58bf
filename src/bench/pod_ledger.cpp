#include "bench/pod_ledger.h"

#include <algorithm>
#include <utility>

namespace berth::bench {

bool HasLabels(const api::StringMap& labels, const LabelSet& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& label) {
    const std::string* const value = labels.find(label.first);
    return value != nullptr && *value == label.second;
  });
}

void PodLedger::OnPod(const PodChange& change) {
  Namespace& here = namespaces_[std::string(change.namespace_name)];
  const auto known = here.pods.find(change.name);
  if (change.is_gone) {
    if (known == here.pods.end()) return;
    if (known->second.bound) --here.bound_count;
    ++here.gone_count;
    here.pods.erase(known);
    return;
  }
  Entry& entry = known != here.pods.end() ? known->second : here.pods[std::string(change.name)];
  if (known == here.pods.end()) entry.created = clock_.Now();
  entry.labels = change.labels;
  if (entry.bound || !change.is_bound) return;
  entry.bound = clock_.Now();
  ++here.bound_count;
  for (const BoundListener& listener : listeners_) listener(change.namespace_name, change.name, entry);
}

std::size_t PodLedger::CountBound(std::string_view namespace_name, const LabelSet& labels) const {
  const auto found = namespaces_.find(namespace_name);
  if (found == namespaces_.end()) return 0;
  if (labels.empty()) return found->second.bound_count;
  return static_cast<std::size_t>(std::ranges::count_if(found->second.pods, [&](const auto& pod) {
    return pod.second.bound && HasLabels(pod.second.labels, labels);
  }));
}

std::size_t PodLedger::CountGone(std::string_view namespace_name) const {
  const auto found = namespaces_.find(namespace_name);
  return found == namespaces_.end() ? 0 : found->second.gone_count;
}

const PodLedger::Pods& PodLedger::pods(std::string_view namespace_name) const {
  static const Pods none;
  const auto found = namespaces_.find(namespace_name);
  return found == namespaces_.end() ? none : found->second.pods;
}

}  // namespace berth::bench
