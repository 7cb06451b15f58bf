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
  kind_of_.resize(cluster.nodes().row_count(), kNone);
  kinds_max_ = std::clamp(kind_of_.size() / kShareMax, kKindsMin, kKindsMax);
  const bool is_covered = log.Since(version_, [&](cluster::NodeRow row, cluster::Facts facts) {
    if ((facts & kFacts) != 0 && kind_count_ <= kinds_max_) Place(cluster, row);
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
  kind_of_.assign(cluster.nodes().row_count(), kNone);
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
  retry_at_ = cluster.change_log().version() + kind_of_.size() + kChunk;
  ids_.clear();
  kinds_ = std::vector<Kind>();
  sizes_.clear();
  unused_.clear();
  kind_of_ = std::vector<KindId>();
  kind_count_ = 0;
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
  const auto slots = static_cast<std::uint32_t>(cluster.resources().slot_count());
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const cluster::ResourceId resource(slot);
    const std::int64_t allocatable = nodes.allocatable(resource)[i];
    const std::int64_t requested = nodes.requested(resource)[i];
    // What a row has nothing of is not told from what it does not know.
    if (allocatable == 0 && requested == 0) continue;
    add(slot);
    add(allocatable);
    add(requested);
  }
  if (!nodes.with_ports().Test(i)) return;
  add(~std::uint64_t{0});  // no slot
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
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  Kind& kind = kinds_[id];
  kind.words = words_;
  sizes_[id].born = ++births_;
  kind.founder = row;
  kind.chunks.clear();
  kind.blocks.clear();
  ids_.insert(id);
  ++kind_count_;
  return id;
}

void RowKinds::Leave(KindId id, cluster::NodeRow row) {
  Kind& kind = kinds_[id];
  --kind.chunks[row.index() / kChunk];
  --kind.blocks[row.index() / kBlock];
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
    Kind& kind = kinds_[now];
    const std::size_t chunk = row.index() / kChunk;
    const std::size_t block = row.index() / kBlock;
    if (chunk >= kind.chunks.size()) kind.chunks.resize(chunk + 1);
    if (block >= kind.blocks.size()) kind.blocks.resize(block + 1);
    ++kind.chunks[chunk];
    ++kind.blocks[block];
    ++sizes_[now].rows;
  }
  if (before != kNone) Leave(before, row);
}

cluster::NodeRow RowKinds::Sample(KindId kind) const {
  const cluster::NodeRow founder = kinds_[kind].founder;
  return kind_of_[founder.index()] == kind ? founder : Nth({&kind, 1}, 0, {});
}

template <class Counts>
std::size_t RowKinds::Descend(std::span<const KindId> kinds, Counts Kind::* counts, std::size_t size,
                              std::size_t from, std::size_t& n,
                              std::span<const cluster::NodeRow>& without) const {
  for (std::size_t part = from;; ++part) {
    std::size_t left_out = 0;
    while (left_out < without.size() && without[left_out].index() < (part + 1) * size) ++left_out;
    std::size_t count = 0;
    for (const KindId kind : kinds) {
      const Counts& of = kinds_[kind].*counts;
      if (part < of.size()) count += of[part];
    }
    count -= left_out;
    if (n < count) return part;
    BERTH_CHECK((part + 1) * size < kind_of_.size());
    n -= count;
    without = without.subspan(left_out);
  }
}

cluster::NodeRow RowKinds::Nth(std::span<const KindId> kinds, std::size_t n,
                               std::span<const cluster::NodeRow> without) const {
  const std::size_t block = Descend(kinds, &Kind::blocks, kBlock, 0, n, without);
  const std::size_t chunk = Descend(kinds, &Kind::chunks, kChunk, block * (kBlock / kChunk), n, without);
  for (std::size_t row = chunk * kChunk;; ++row) {
    const KindId kind = kind_of_[row];
    if (kinds.size() == 1 ? kind != kinds[0] : !std::ranges::binary_search(kinds, kind)) continue;
    const cluster::NodeRow found(static_cast<std::uint32_t>(row));
    if (!without.empty() && without.front() == found) {
      without = without.subspan(1);
    } else if (n-- == 0) {
      return found;
    }
  }
}

std::size_t RowKinds::MemoryBytes() const {
  std::size_t bytes = kind_of_.capacity() * sizeof(KindId) + kinds_.capacity() * sizeof(Kind);
  for (const Kind& kind : kinds_) {
    bytes += kind.words.capacity() * sizeof(std::uint64_t) + kind.chunks.capacity() * 2 +
             kind.blocks.capacity() * 4;
  }
  return bytes;
}

}  // namespace berth::framework
