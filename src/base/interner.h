#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

#include "base/check.h"
#include "base/ids.h"
#include "base/text_hash.h"

namespace berth::base {

// Gives equal values one small id, counts the users of each and forgets a value with its last user.
//
// 1. A live id has at least one reference; equal values never have two live ids.
// 2. Ids are dense: below slot_count(), and the slot freed last is reused first. Which id a value gets
// depends on
//    the history of calls alone, never on hashes.
// 3. A slot's generation grows each time it is freed.
// 4. References to values stay valid until the value is released.
//
// Hash and Eq are transparent: Find and Intern take anything that they can hash and compare with a Value, and
// Intern builds a Value from it only when it is new. Costs are those of one hash table operation.
template <class IdType, class Value, class Hash = absl::Hash<Value>, class Eq = std::equal_to<>>
class InternTable {
 public:
  explicit InternTable(Hash hash = Hash(), Eq eq = Eq())
      : hash_(std::move(hash)), ids_(0, SlotHash{&slots_}, SlotEq{&slots_, std::move(eq)}) {}
  InternTable(const InternTable&) = delete;
  InternTable& operator=(const InternTable&) = delete;

  // The id of the value, new or not, with one reference for the caller.
  template <class K>
  IdType Intern(K&& key) {
    const Hashed<std::remove_cvref_t<K>> hashed{key, hash_(key)};
    if (const auto found = ids_.find(hashed); found != ids_.end()) {
      ++slots_[found->index()].references;
      return *found;
    }
    const IdType id = TakeSlot();
    Slot& slot = slots_[id.index()];
    slot.hash = hashed.hash;
    slot.value.emplace(std::forward<K>(key));
    slot.references = 1;
    ids_.insert(id);
    return id;
  }

  // Invalid when the value is not in the table. Takes no reference.
  template <class K>
  IdType Find(const K& key) const {
    const auto found = ids_.find(Hashed<K>{key, hash_(key)});
    return found == ids_.end() ? IdType() : *found;
  }

  void Acquire(IdType id) { ++Live(id).references; }

  // True when this was the last reference: the value is gone and the id may come back with another one.
  bool Release(IdType id) {
    Slot& slot = Live(id);
    if (--slot.references > 0) return false;
    ids_.erase(id);
    slot.value.reset();
    ++slot.generation;
    free_.push_back(id);
    return true;
  }

  const Value& Get(IdType id) const { return *Live(id).value; }
  std::uint32_t References(IdType id) const { return Live(id).references; }

  Versioned<IdType> Version(IdType id) const { return {id, Live(id).generation}; }
  // Whether the value that had this id when Version() was called still has it.
  bool IsCurrent(Versioned<IdType> versioned) const {
    return versioned.id.index() < slots_.size() && slots_[versioned.id.index()].value.has_value() &&
           slots_[versioned.id.index()].generation == versioned.generation;
  }

  // For walks over all ids below slot_count().
  bool IsLive(IdType id) const { return id.index() < slots_.size() && slots_[id.index()].references > 0; }
  std::size_t size() const { return ids_.size(); }
  bool empty() const { return ids_.empty(); }
  // One more than the largest id in use so far.
  std::size_t slot_count() const { return slots_.size(); }

 private:
  struct Slot {
    std::optional<Value> value;
    std::size_t hash = 0;
    std::uint32_t references = 0;
    std::uint32_t generation = 0;
  };
  using Slots = std::deque<Slot>;

  // A key with its hash, so that it is computed once per call.
  template <class K>
  struct Hashed {
    const K& key;
    std::size_t hash;
  };

  struct SlotHash {
    using is_transparent = void;
    const Slots* slots;
    std::size_t operator()(IdType id) const { return (*slots)[id.index()].hash; }
    template <class K>
    std::size_t operator()(const Hashed<K>& hashed) const {
      return hashed.hash;
    }
  };

  struct SlotEq {
    using is_transparent = void;
    const Slots* slots;
    Eq eq;
    bool operator()(IdType a, IdType b) const { return a == b; }
    template <class K>
    bool operator()(IdType id, const Hashed<K>& hashed) const {
      const Slot& slot = (*slots)[id.index()];
      return slot.hash == hashed.hash && eq(*slot.value, hashed.key);
    }
    template <class K>
    bool operator()(const Hashed<K>& hashed, IdType id) const {
      return (*this)(id, hashed);
    }
  };

  IdType TakeSlot() {
    if (!free_.empty()) {
      const IdType id = free_.back();
      free_.pop_back();
      return id;
    }
    BERTH_CHECK(slots_.size() < IdType::kInvalidValue);
    slots_.emplace_back();
    return IdType(static_cast<std::uint32_t>(slots_.size() - 1));
  }

  const Slot& Live(IdType id) const {
    BERTH_DCHECK(id.index() < slots_.size() && slots_[id.index()].references > 0);
    return slots_[id.index()];
  }
  Slot& Live(IdType id) {
    BERTH_DCHECK(id.index() < slots_.size() && slots_[id.index()].references > 0);
    return slots_[id.index()];
  }

  Slots slots_;
  std::vector<IdType> free_;
  Hash hash_;
  absl::flat_hash_set<IdType, SlotHash, SlotEq> ids_;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return HashText(text); }
};

// Text to id: names, namespaces, label keys, resources.
template <class IdType>
using Interner = InternTable<IdType, std::string, TextHash>;

}  // namespace berth::base
