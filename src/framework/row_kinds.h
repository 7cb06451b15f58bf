#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "cluster/cluster.h"
#include "cluster/facts.h"
#include "cluster/ids.h"
#include "framework/kind_tree.h"

namespace berth::framework {

// The existing rows by what a plain pod is told by: allocatable and requested of every resource, how many
// pods there are, taints, cordons, declared features and ports in use. Labels, images and which pods they are
// is not among it: of that every node of a real cluster has its own. A cluster has few kinds as long as its
// pods are of few templates, and then a pod that nothing else decides about costs what the kinds cost.
//
// 1. Rows have one kind iff they agree in all of the above. A row that does not exist has none.
// 2. A kind lives while a row is of it. born() of a kind that is made later is another one, also under the
//    same id, so that what somebody keeps for a kind is good iff born() is what it was.
// 3. Beyond kShareMax of the rows, or beyond kKindsMax kinds, there are none at all, and nothing is spent on
//    them until about as many rows have changed as there are.
//
// Refresh costs about a hash of a row for every row that changed.
class RowKinds {
 public:
  static constexpr KindId kNone = 0xffffffff;
  static constexpr std::size_t kKindsMin = 32;
  static constexpr std::size_t kKindsMax = 16'384;
  static constexpr std::size_t kBirthsKept = 16'384;
  static constexpr std::size_t kShareMax = 8;
  static constexpr cluster::Facts kFacts = cluster::kResourcesFact | cluster::kPodsFact |
                                           cluster::kTaintsFact | cluster::kFeaturesFact |
                                           cluster::kPortsFact | cluster::kExistsFact;

  RowKinds() = default;
  RowKinds(const RowKinds&) = delete;
  RowKinds& operator=(const RowKinds&) = delete;

  // Brings it up to the cluster as it is now. False: there are too many.
  bool Refresh(const cluster::Cluster& cluster);

  struct Size {
    std::uint64_t born = 0;
    std::size_t rows = 0;  // 0: the id is not in use
  };
  // By id.
  std::span<const Size> sizes() const { return sizes_; }
  // How many rows are of some kind.
  std::size_t row_count() const { return row_count_; }
  // How many kinds were ever made: born() of the latest one.
  std::uint64_t births() const { return births_; }
  // The id of the kind that was made as this one, of the last kBirthsKept; it may be another one's by now.
  KindId MadeAs(std::uint64_t born) const { return made_[born % kBirthsKept]; }
  // By row.
  std::span<const KindId> kind_of() const { return kind_of_; }
  // Some row of the kind.
  cluster::NodeRow Sample(KindId kind) const;
  // The n-th row of these kinds, which ascend, when the given rows, which ascend and are of these kinds, too,
  // are left out. There must be one.
  cluster::NodeRow Nth(std::span<const KindId> kinds, std::size_t n,
                       std::span<const cluster::NodeRow> without) const;
  std::size_t MemoryBytes() const;

 private:
  using Words = std::vector<std::uint64_t>;
  struct Kind {
    Words words;  // what its rows agree in
    cluster::NodeRow founder;
  };
  // Kinds are looked up by the words that they have, which are kept once.
  struct WordsHash {
    using is_transparent = void;
    const std::vector<Kind>* kinds;
    std::size_t operator()(std::span<const std::uint64_t> words) const;
    std::size_t operator()(KindId kind) const { return operator()((*kinds)[kind].words); }
  };
  struct WordsEqual {
    using is_transparent = void;
    const std::vector<Kind>* kinds;
    bool operator()(KindId a, KindId b) const { return a == b; }
    bool operator()(KindId kind, std::span<const std::uint64_t> words) const;
  };

  bool Rebuild(const cluster::Cluster& cluster);
  void GiveUp(const cluster::Cluster& cluster);
  void Place(const cluster::Cluster& cluster, cluster::NodeRow row);
  void Describe(const cluster::Cluster& cluster, cluster::NodeRow row);
  KindId FindOrAdd(cluster::NodeRow row);
  void Leave(KindId kind, cluster::NodeRow row);

  bool is_usable_ = false;
  std::uint64_t version_ = 0;   // of the change log
  std::uint64_t retry_at_ = 0;  // likewise, while it is not usable
  std::uint64_t births_ = 0;
  std::vector<KindId> made_ = std::vector<KindId>(kBirthsKept);  // by births
  std::size_t row_count_ = 0;
  std::size_t kind_count_ = 0;
  std::size_t kinds_max_ = 0;
  std::vector<Kind> kinds_;
  std::vector<Size> sizes_;
  std::vector<KindId> unused_;
  std::vector<KindId> kind_of_;                                                      // by row
  absl::flat_hash_set<KindId, WordsHash, WordsEqual> ids_{0, {&kinds_}, {&kinds_}};  // never walked
  KindTree tree_;
  Words words_;                              // of the row at hand
  mutable std::vector<std::uint8_t> among_;  // by kind; all 0 between calls
};

}  // namespace berth::framework
