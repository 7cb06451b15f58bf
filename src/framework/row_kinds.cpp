#include "framework/row_kinds.h"

#include <algorithm>
#include <string_view>

#include "absl/hash/hash.h"

#include "base/check.h"

namespace berth::framework {

std::size_t RowKinds::WordsHash::operator()(std::span<const std::uint64_t> words) const {
  return absl::HashOf(
      std::string_view(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])));
}

bool RowKinds::WordsEqual::operator()(KindId kind, std::span<const std::uint64_t> words) const {
  return std::ranges::equal((*kinds)[kind].words, words);
}

bool RowKinds::Refresh(const cluster::Cluster& cluster) {
  const auto& log = cluster.change_log();
  if (!is_usable_) return log.version() >= retry_at_ && Rebuild(cluster);
  if (log.version() == version_) return true;
  if (cluster.nodes().row_count() > tree_.row_capacity()) return Rebuild(cluster);
  kind_of_.resize(cluster.nodes().row_count(), kNone);
  kinds_max_ = std::clamp(kind_of_.size() / kShareMax, kKindsMin, kKindsMax);
  // As it is now is how a row is placed, so once is enough: a trial that was taken back changed it twice.
  cluster::NodeRow placed;
  const bool is_covered = log.Since(version_, [&](cluster::NodeRow row, cluster::Facts facts) {
    if ((facts & kFacts) == 0 || row == placed || kind_count_ > kinds_max_) return;
    Place(cluster, row);
    placed = row;
  });
  if (!is_covered) return Rebuild(cluster);
  version_ = log.version();
  if (kind_count_ > kinds_max_) GiveUp(cluster);
  return is_usable_;
}

bool RowKinds::Rebuild(const cluster::Cluster& cluster) {
  ids_.clear();
  kinds_.clear();
  sizes_.clear();
  unused_.clear();
  kind_count_ = 0;
  row_count_ = 0;
  kind_of_.assign(cluster.nodes().row_count(), kNone);
  tree_.Reset(kind_of_.size());
  kinds_max_ = std::clamp(kind_of_.size() / kShareMax, kKindsMin, kKindsMax);
  version_ = cluster.change_log().version();
  is_usable_ = true;
  for (std::uint32_t row = 0; row < kind_of_.size(); ++row) {
    Place(cluster, cluster::NodeRow(row));
    if (kind_count_ > kinds_max_) {
      GiveUp(cluster);
      return false;
    }
  }
  return true;
}

void RowKinds::GiveUp(const cluster::Cluster& cluster) {
  is_usable_ = false;
  retry_at_ = cluster.change_log().version() + kind_of_.size() + KindTree::kPart;
  ids_.clear();
  kinds_ = std::vector<Kind>();
  sizes_.clear();
  unused_.clear();
  kind_of_ = std::vector<KindId>();
  tree_.Reset(0);
  kind_count_ = 0;
  row_count_ = 0;
}

void RowKinds::Describe(const cluster::Cluster& cluster, cluster::NodeRow row) {
  const cluster::NodeTable& nodes = cluster.nodes();
  const std::size_t i = row.index();
  words_.clear();
  const auto add = [&](auto word) { words_.push_back(static_cast<std::uint64_t>(word)); };
  add(nodes.taint_set()[i].value());
  add(std::uint64_t{nodes.feature_set()[i].value()} << 1 | std::uint64_t{nodes.unschedulable().Test(i)});
  add(nodes.pod_count()[i]);
  add(nodes.non_zero_milli_cpu()[i]);
  add(nodes.non_zero_memory()[i]);
  // What a row has nothing of is not told from what it does not know.
  nodes.ForEachAmount(row, [&](cluster::ResourceId resource, std::int64_t offered, std::int64_t taken) {
    add(resource.value());
    add(offered);
    add(taken);
  });
  if (!nodes.with_ports().Test(i)) return;
  add(~std::uint64_t{0});  // no resource
  for (const cluster::PortUse& use : nodes.ports(row)) add(use.port.value());
}

KindId RowKinds::FindOrAdd(cluster::NodeRow row) {
  if (const auto found = ids_.find(std::span<const std::uint64_t>(words_)); found != ids_.end()) {
    return *found;
  }
  KindId id = 0;
  if (unused_.empty()) {
    id = static_cast<KindId>(kinds_.size());
    kinds_.emplace_back();
    sizes_.emplace_back();
    tree_.Reserve(kinds_.size());
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Kind& kind = kinds_[id];
  kind.words = words_;
  sizes_[id].born = ++births_;
  made_[births_ % kBirthsKept] = id;
  kind.founder = row;
  ids_.insert(id);
  ++kind_count_;
  return id;
}

void RowKinds::Leave(KindId id, cluster::NodeRow row) {
  tree_.Remove(id, row);
  --row_count_;
  if (--sizes_[id].rows > 0) return;
  ids_.erase(id);
  unused_.push_back(id);
  --kind_count_;
}

void RowKinds::Place(const cluster::Cluster& cluster, cluster::NodeRow row) {
  KindId now = kNone;
  if (cluster.nodes().exists(row)) {
    Describe(cluster, row);
    now = FindOrAdd(row);
  }
  const KindId before = kind_of_[row.index()];
  if (before == now) return;
  kind_of_[row.index()] = now;
  if (now != kNone) {
    tree_.Add(now, row);
    ++sizes_[now].rows;
    ++row_count_;
  }
  if (before != kNone) Leave(before, row);
}

cluster::NodeRow RowKinds::Sample(KindId kind) const {
  const cluster::NodeRow founder = kinds_[kind].founder;
  return kind_of_[founder.index()] == kind ? founder : Nth({&kind, 1}, 0, {});
}

cluster::NodeRow RowKinds::Nth(std::span<const KindId> kinds, std::size_t n,
                               std::span<const cluster::NodeRow> without) const {
  const std::size_t first = tree_.FindPart(kinds, n, without);
  among_.resize(kinds_.size());
  for (const KindId kind : kinds) among_[kind] = 1;
  cluster::NodeRow found;
  for (std::size_t row = first;; ++row) {
    BERTH_DCHECK(row < kind_of_.size());
    const KindId kind = kind_of_[row];
    if (kind == kNone || among_[kind] == 0) continue;
    found = cluster::NodeRow(static_cast<std::uint32_t>(row));
    if (!without.empty() && without.front() == found) {
      without = without.subspan(1);
    } else if (n-- == 0) {
      break;
    }
  }
  for (const KindId kind : kinds) among_[kind] = 0;
  return found;
}

std::size_t RowKinds::MemoryBytes() const {
  std::size_t bytes = kind_of_.capacity() * sizeof(KindId) + kinds_.capacity() * sizeof(Kind);
  bytes += tree_.MemoryBytes() + among_.capacity();
  for (const Kind& kind : kinds_) bytes += kind.words.capacity() * sizeof(std::uint64_t);
  return bytes;
}

}  // namespace berth::framework
