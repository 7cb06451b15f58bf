#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "api/string_map.h"
#include "base/interner.h"
#include "base/shared_text_map.h"
#include "cluster/ids.h"

namespace berth::cluster {

struct Label {
  LabelKeyId key;
  LabelValueId value;

  bool operator==(const Label&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Label& label) {
    return H::combine(std::move(h), label.key, label.value);
  }
};

class LabelView;

// The label sets of nodes, pods and namespaces, each distinct one once, their keys and values as ids. What
// depends on labels alone is decided per set.
//
// Intern and InternKey/InternValue give the caller a reference that Release... takes back. A set holds
// references to its keys and values.
class LabelTable {
 public:
  LabelSetId Intern(const api::StringMap& labels) { return InternEntries(labels); }
  LabelSetId Intern(const base::SharedTextMap& labels) { return InternEntries(labels); }
  void Acquire(LabelSetId set);
  void Release(LabelSetId set);

  LabelKeyId InternKey(std::string_view key);
  LabelValueId InternValue(std::string_view value);
  void ReleaseKey(LabelKeyId key);
  void ReleaseValue(LabelValueId value);

  // In the order of key ids.
  std::span<const Label> Labels(LabelSetId set) const {
    return {sets_.Get(set).labels.data(), sets_.Get(set).labels.size()};
  }
  // Invalid if the set has no such label.
  LabelValueId Value(LabelSetId set, LabelKeyId key) const;
  std::optional<std::string_view> Text(LabelSetId set, std::string_view key) const;
  // What api::Selector and the node matchers take for labels. An invalid id stands for no labels.
  LabelView View(LabelSetId set) const;

  // Invalid if no set in use has it.
  LabelKeyId FindKey(std::string_view key) const;
  LabelValueId FindValue(std::string_view value) const;
  std::string_view KeyText(LabelKeyId key) const { return keys_.Get(key); }
  std::string_view ValueText(LabelValueId value) const { return values_.Get(value); }

  base::Versioned<LabelSetId> Version(LabelSetId set) const { return sets_.Version(set); }
  bool IsCurrent(base::Versioned<LabelSetId> set) const { return sets_.IsCurrent(set); }
  std::size_t size() const { return sets_.size(); }
  bool empty() const { return sets_.empty() && keys_.empty() && values_.empty(); }

 private:
  struct LabelSet {
    explicit LabelSet(std::span<const Label> from) : labels(from.begin(), from.end()) {}
    absl::InlinedVector<Label, 3> labels;
  };
  struct Hash {
    std::size_t operator()(std::span<const Label> labels) const;
  };
  struct Eq {
    bool operator()(const LabelSet& set, std::span<const Label> labels) const;
  };

  template <class Map>
  LabelSetId InternEntries(const Map& labels);

  base::Interner<LabelKeyId> keys_;
  base::Interner<LabelValueId> values_;
  base::InternTable<LabelSetId, LabelSet, Hash, Eq> sets_;
  std::vector<Label> scratch_;
};

// A label set as a function from key to value.
class LabelView {
 public:
  LabelView(const LabelTable& table, LabelSetId set) : table_(&table), set_(set) {}
  std::optional<std::string_view> operator()(std::string_view key) const {
    return set_.IsValid() ? table_->Text(set_, key) : std::nullopt;
  }

 private:
  const LabelTable* table_;
  LabelSetId set_;
};

inline LabelView LabelTable::View(LabelSetId set) const { return {*this, set}; }

}  // namespace berth::cluster
