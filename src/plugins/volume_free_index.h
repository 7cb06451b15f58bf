#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

#include "api/label_selector.h"
#include "api/node_matching.h"
#include "api/quantity.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_places.h"

namespace berth::plugins {

// What a claim asks of a volume, prepared once.
struct VolumeWish {
  ClaimRef claim;
  std::string claim_key;
  api::Quantity request;
  std::optional<api::Selector> selector;
};

// A size that is compared with others without a look at the object that it is of, unless they are as good as
// equal. Good as long as the quantity.
class VolumeSize {
 public:
  explicit VolumeSize(const api::Quantity& quantity);

  int Compare(const VolumeSize& other) const {
    if (bytes_ != other.bytes_) return bytes_ < other.bytes_ ? -1 : 1;
    return is_exact_ && other.is_exact_ ? 0 : quantity_->Compare(*other.quantity_);
  }
  // Rounded up.
  std::int64_t bytes() const { return bytes_; }
  // bytes() says it all.
  bool is_exact() const { return is_exact_; }

 private:
  std::int64_t bytes_;
  bool is_exact_;
  const api::Quantity* quantity_;
};

// A volume that suits, good until a volume changes.
struct VolumeFit {
  const VolumeRef* volume;
  VolumeSize size;
};

// A bit for each of the modes that there are.
using AccessModes = std::uint8_t;

// The volumes of one class that a claim may be bound to: smallest first, and by where they can be used.
//
// A volume whose affinity is one label with a list of values, as that of local and zonal volumes is, is in
// the bucket of each value, so a node looks at its own buckets and at no other volume: a look-up by the value
// and one by size, whatever the number of volumes. Volumes that somebody meant for a claim are found by that
// claim.
class ClassVolumes {
 private:
  struct Entry;

 public:
  ClassVolumes(VolumePlaces& places, StorageLog& log) : places_(places), log_(log) {}

  // What one wish found in the buckets that nodes share, so that the next node does not look again. Good
  // until a volume changes, for a wish that stays where it is.
  class Memo {
   public:
    // As many claims may take volumes of one node.
    explicit Memo(std::size_t claims) : claims_(claims) {}
    void Clear() { found_.clear(); }

   private:
    friend class ClassVolumes;
    std::size_t claims_;
    std::optional<VolumeSize> size_;    // nothing: it was never used
    std::optional<AccessModes> plain_;  // what a claim asks for that asks for nothing else; nothing: it does
    absl::flat_hash_map<const void*, absl::InlinedVector<const Entry*, 2>> found_;  // by bucket
  };

  // The smallest one that suits the node; of equal sizes the first by name. A volume that is meant for the
  // claim goes before all others, and if it does not suit the node there is none. At most as many are taken
  // as the memo has claims, less this one.
  std::optional<VolumeFit> Match(const VolumeWish& wish, cluster::NodeRow row,
                                 std::span<const VolumeRef> taken, Memo& memo) const;
  // Somebody meant a volume for such a claim.
  bool HasMeantFor(const std::string& claim_key) const { return meant_.contains(claim_key); }
  // Among those that all nodes of the place share, or all nodes there are.
  std::optional<VolumeFit> SmallestAt(const VolumeWish& wish, Place place, Memo& memo) const;
  std::optional<VolumeFit> SmallestEverywhere(const VolumeWish& wish, Memo& memo) const;

  void Add(const VolumeRef& volume);
  // The same object that was added.
  void Remove(const VolumeRef& volume);
  bool empty() const {
    return anywhere_.empty() && by_label_.empty() && elsewhere_.empty() && meant_.empty();
  }

 private:
  struct Kept {
    VolumeRef volume;
    std::optional<api::NodeMatcher> affinity;  // nothing: any node, or the bucket says it
  };
  struct Entry {
    VolumeSize size;
    std::optional<AccessModes> plain;  // of a volume that there is nothing else to ask about
    std::shared_ptr<const Kept> kept;

    bool operator<(const Entry& other) const {
      const int order = size.Compare(other.size);
      return order != 0 ? order < 0 : kept->volume->metadata.name < other.kept->volume->metadata.name;
    }
  };
  struct BySize {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return a < b; }
    bool operator()(const Entry& entry, const VolumeSize& size) const { return entry.size.Compare(size) < 0; }
    bool operator()(const VolumeSize& size, const Entry& entry) const { return size.Compare(entry.size) < 0; }
  };
  using Bucket = absl::btree_set<Entry, BySize>;
  // Looked up, never walked.
  using ByValue = absl::flat_hash_map<PlaceValue, std::unique_ptr<Bucket>>;

  static Entry MakeEntry(const VolumeRef& volume, std::optional<api::NodeMatcher> affinity);
  static bool Suits(const Entry& entry, const VolumeWish& wish, const Memo& memo);
  static void Prepare(const VolumeWish& wish, Memo& memo);
  template <class F>
  void ForEachBucket(const VolumeRef& volume, F&& visit);
  // Of a bucket whose volumes suit every node that looks there; many nodes, or one or two.
  static const Entry* FirstFit(const Bucket& bucket, const VolumeWish& wish, std::span<const VolumeRef> taken,
                               Memo& memo);
  static const Entry* FirstFitOfFew(const Bucket& bucket, const VolumeWish& wish,
                                    std::span<const VolumeRef> taken, const Memo& memo);
  const Entry* FirstFitOn(const VolumeWish& wish, cluster::NodeRow row, std::span<const VolumeRef> taken,
                          const Memo& memo) const;
  const Entry* MeantFor(const VolumeWish& wish, std::span<const VolumeRef> taken, const Memo& memo) const;
  bool CanUse(cluster::NodeRow row, const Kept& kept) const;

  VolumePlaces& places_;
  StorageLog& log_;
  Bucket anywhere_;
  absl::btree_map<PlaceKey, ByValue> by_label_;
  Bucket elsewhere_;                                         // an affinity that is more than that
  absl::btree_map<std::string, Bucket, std::less<>> meant_;  // by the claim's key
};

// The volumes of all classes, as an AssumeCache has them.
class FreeVolumes {
 public:
  // The places outlive it.
  explicit FreeVolumes(VolumePlaces& places) : places_(places) {}

  // Null: no volume has the class.
  const ClassVolumes* Find(std::string_view class_name) const;
  // The volume is now this one; null: it is gone.
  void Set(std::string_view name, VolumeRef volume);
  // Where there were other volumes to choose from. Those that are meant for a claim are not told.
  const StorageLog& log() const { return log_; }
  // Grows with every change of a volume.
  std::uint64_t version() const { return version_; }

 private:
  static constexpr std::size_t kLogCapacity = 1 << 13;

  VolumePlaces& places_;
  StorageLog log_{kLogCapacity};
  std::uint64_t version_ = 0;
  absl::btree_map<std::string, ClassVolumes, std::less<>> classes_;
  absl::btree_map<std::string, VolumeRef, std::less<>> volumes_;  // as they were added
};

}  // namespace berth::plugins
