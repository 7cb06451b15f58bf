#include "cluster/taint_sets.h"

#include <algorithm>
#include <tuple>

namespace berth::cluster {
namespace {

auto Identity(const api::Taint& taint) { return std::tie(taint.key, taint.value, taint.effect); }

}  // namespace

TaintSetTable::TaintSet::TaintSet(std::span<const api::Taint> from) : taints(from.begin(), from.end()) {
  for (api::Taint& taint : taints) taint.time_added.reset();
}

std::size_t TaintSetTable::Hash::operator()(std::span<const api::Taint> taints) const {
  std::size_t hash = taints.size();
  for (const api::Taint& taint : taints) hash = absl::HashOf(hash, Identity(taint));
  return hash;
}

bool TaintSetTable::Eq::operator()(const TaintSet& set, std::span<const api::Taint> taints) const {
  return std::ranges::equal(set.taints, taints, [](const api::Taint& a, const api::Taint& b) {
    return Identity(a) == Identity(b);
  });
}

TaintSetId TaintSetTable::Intern(std::span<const api::Taint> taints) { return sets_.Intern(taints); }

void TaintSetTable::Release(TaintSetId set) { sets_.Release(set); }

}  // namespace berth::cluster
