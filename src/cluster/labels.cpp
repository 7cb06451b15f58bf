#include "cluster/labels.h"

#include <algorithm>

#include "absl/types/span.h"

namespace berth::cluster {

std::size_t LabelTable::Hash::operator()(std::span<const Label> labels) const {
  return absl::HashOf(absl::MakeConstSpan(labels.data(), labels.size()));
}

bool LabelTable::Eq::operator()(const LabelSet& set, std::span<const Label> labels) const {
  return std::ranges::equal(set.labels, labels);
}

template <class Map>
LabelSetId LabelTable::InternEntries(const Map& labels) {
  scratch_.clear();
  for (const auto& [key, value] : labels) scratch_.push_back({keys_.Intern(key), values_.Intern(value)});
  std::ranges::sort(scratch_, {}, &Label::key);
  const LabelSetId set = sets_.Intern(std::span<const Label>(scratch_));
  if (sets_.References(set) > 1) {
    // Known already, and it holds its own references.
    for (const Label& label : scratch_) {
      keys_.Release(label.key);
      values_.Release(label.value);
    }
  }
  return set;
}

template LabelSetId LabelTable::InternEntries(const api::StringMap& labels);
template LabelSetId LabelTable::InternEntries(const base::SharedTextMap& labels);

void LabelTable::Release(LabelSetId set) {
  if (sets_.References(set) == 1) {
    for (const Label& label : sets_.Get(set).labels) {
      keys_.Release(label.key);
      values_.Release(label.value);
    }
  }
  sets_.Release(set);
}

LabelValueId LabelTable::Value(LabelSetId set, LabelKeyId key) const {
  // Sets are small: a linear search beats a binary one.
  for (const Label& label : Labels(set)) {
    if (label.key == key) return label.value;
  }
  return {};
}

std::optional<std::string_view> LabelTable::Text(LabelSetId set, std::string_view key) const {
  for (const Label& label : Labels(set)) {
    if (KeyText(label.key) == key) return ValueText(label.value);
  }
  return std::nullopt;
}

void LabelTable::Acquire(LabelSetId set) { sets_.Acquire(set); }

LabelKeyId LabelTable::InternKey(std::string_view key) { return keys_.Intern(key); }

LabelValueId LabelTable::InternValue(std::string_view value) { return values_.Intern(value); }

void LabelTable::ReleaseKey(LabelKeyId key) { keys_.Release(key); }

void LabelTable::ReleaseValue(LabelValueId value) { values_.Release(value); }

LabelKeyId LabelTable::FindKey(std::string_view key) const { return keys_.Find(key); }

LabelValueId LabelTable::FindValue(std::string_view value) const { return values_.Find(value); }

}  // namespace berth::cluster
