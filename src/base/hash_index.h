#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace berth::base {

// Finds ids by the hash of what they are known by. It keeps no key: who asks says whether an id is the one
// that is meant, and who takes an id out knows its hash. So an entry takes eight bytes, and growing reads no
// key.
//
// Open addressing, at most four fifths full, no marks of what was taken out. Only 32 bits of a hash count.
template <class IdType>
class HashIndex {
 public:
  // Calls is_it(id) for ids with this hash until it says yes. Invalid: it never did.
  template <class F>
  IdType Find(std::size_t hash, F&& is_it) const {
    const std::size_t at = Locate(hash, is_it);
    return at == kNowhere ? IdType() : entries_[at].id;
  }

  void Insert(std::size_t hash, IdType id) {
    if ((size_ + 1) * 5 > entries_.size() * 4) Grow();
    Put({static_cast<std::uint32_t>(hash), id});
    ++size_;
  }
  // Puts the id in the place of the one that is meant, or inserts it if there is none.
  template <class F>
  void Assign(std::size_t hash, IdType id, F&& is_it) {
    const std::size_t at = Locate(hash, is_it);
    if (at == kNowhere) {
      Insert(hash, id);
    } else {
      entries_[at].id = id;
    }
  }
  // It must be there.
  void Erase(std::size_t hash, IdType id) {
    std::size_t hole = Locate(hash, [&](IdType other) { return other == id; });
    BERTH_CHECK(hole != kNowhere);
    // What stands behind it, away from where it belongs, moves up.
    for (std::size_t at = Next(hole); entries_[at].id.IsValid(); at = Next(at)) {
      const std::size_t home = entries_[at].hash & Mask();
      if (((at - home) & Mask()) < ((at - hole) & Mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  static constexpr std::size_t kMin = 16;

  struct Entry {
    std::uint32_t hash = 0;
    IdType id;  // invalid: free
  };

  std::size_t Mask() const { return entries_.size() - 1; }
  std::size_t Next(std::size_t at) const { return (at + 1) & Mask(); }

  template <class F>
  std::size_t Locate(std::size_t hash, F&& is_it) const {
    if (size_ == 0) return kNowhere;
    const auto wanted = static_cast<std::uint32_t>(hash);
    for (std::size_t at = wanted & Mask(); entries_[at].id.IsValid(); at = Next(at)) {
      if (entries_[at].hash == wanted && is_it(entries_[at].id)) return at;
    }
    return kNowhere;
  }

  void Put(const Entry& entry) {
    std::size_t at = entry.hash & Mask();
    while (entries_[at].id.IsValid()) at = Next(at);
    entries_[at] = entry;
  }

  void Grow() {
    std::vector<Entry> old(entries_.empty() ? kMin : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.id.IsValid()) Put(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace berth::base
