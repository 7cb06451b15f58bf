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
#include "base/interner.h"
#include "cluster/labels.h"
#include "plugins/volume_claims.h"

namespace berth::plugins {

// What a claim asks of a volume, prepared once.
struct VolumeWish {
  ClaimRef claim;
  std::string claim_key;
  api::Quantity request;
  std::optional<api::Selector> selector;
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
  // What one wish found in the buckets that nodes share, so that the next node does not look again. Good
  // until a volume changes.
  class Memo {
   public:
    // As many claims may take volumes of one node.
    explicit Memo(std::size_t claims) : claims_(claims) {}
    void Clear() { found_.clear(); }

   private:
    friend class ClassVolumes;
    std::size_t claims_;
    bool is_prepared_ = false;
    std::optional<AccessModes> plain_;  // what a claim asks for that asks for nothing else; nothing: it does
    absl::flat_hash_map<const void*, absl::InlinedVector<const Entry*, 2>> found_;  // by bucket
  };

  // Null: none fits; good until a volume changes. The smallest one that suits the node; of equal sizes the
  // first by name. A volume that is meant for the claim goes before all others, and if it does not suit the
  // node there is none. At most as many are taken as the memo has claims, less this one.
  const VolumeRef* Match(const VolumeWish& wish, const cluster::LabelTable& labels, cluster::LabelSetId node,
                         std::span<const VolumeRef> taken, Memo& memo) const;

  void Add(const VolumeRef& volume);
  // The same object that was added.
  void Remove(const VolumeRef& volume);
  bool empty() const {
    return anywhere_.empty() && by_label_.empty() && elsewhere_.empty() && meant_.empty();
  }

 private:
  struct Entry {
    VolumeRef volume;
    std::shared_ptr<const api::NodeMatcher> affinity;  // null: any node, or the bucket says it
    // Of the volume, where it is at hand: most look-ups end here.
    api::Quantity capacity = {};
    std::optional<AccessModes> plain = {};  // of a volume that there is nothing else to ask about
  };
  struct BySize {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const {
      const int order = a.capacity.Compare(b.capacity);
      return order != 0 ? order < 0 : a.volume->metadata.name < b.volume->metadata.name;
    }
    bool operator()(const Entry& entry, const api::Quantity& size) const {
      return entry.capacity.Compare(size) < 0;
    }
    bool operator()(const api::Quantity& size, const Entry& entry) const {
      return size.Compare(entry.capacity) < 0;
    }
  };
  using Bucket = absl::btree_set<Entry, BySize>;
  // Looked up, never walked.
  using ByValue = absl::flat_hash_map<std::string, std::unique_ptr<Bucket>, base::TextHash, std::equal_to<>>;

  static Entry MakeEntry(const VolumeRef& volume, std::shared_ptr<const api::NodeMatcher> affinity);
  static bool Suits(const Entry& entry, const VolumeWish& wish, const Memo& memo);
  template <class F>
  void ForEachBucket(const VolumeRef& volume, F&& visit);
  // Of a bucket whose volumes suit every node that looks there; many nodes, or one or two.
  static const Entry* FirstFit(const Bucket& bucket, const VolumeWish& wish, std::span<const VolumeRef> taken,
                               Memo& memo);
  static const Entry* FirstFitOfFew(const Bucket& bucket, const VolumeWish& wish,
                                    std::span<const VolumeRef> taken, const Memo& memo);
  static const Entry* FirstFitOn(const Bucket& bucket, const VolumeWish& wish, const cluster::LabelView& node,
                                 std::span<const VolumeRef> taken, const Memo& memo);

  Bucket anywhere_;
  absl::btree_map<std::string, ByValue, std::less<>> by_label_;  // by key, then value
  Bucket elsewhere_;                                             // an affinity that is more than that
  absl::btree_map<std::string, Bucket, std::less<>> meant_;      // by the claim's key
};

// The volumes of all classes, as an AssumeCache has them.
class FreeVolumes {
 public:
  // Null: no volume has the class.
  const ClassVolumes* Find(std::string_view class_name) const;
  // The volume is now this one; null: it is gone.
  void Set(std::string_view name, VolumeRef volume);

 private:
  absl::btree_map<std::string, ClassVolumes, std::less<>> classes_;
  absl::btree_map<std::string, VolumeRef, std::less<>> volumes_;  // as they were added
};

}  // namespace berth::plugins
