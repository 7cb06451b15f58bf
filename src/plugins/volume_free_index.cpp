#include "plugins/volume_free_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kAvailable = "Available";
constexpr std::string_view kFilesystem = "Filesystem";

// With more values of a label than this few nodes have the same one, and what was found there is of no use
// to others.
constexpr std::size_t kSharedValuesMax = 64;

std::string_view ModeOf(const std::optional<std::string>& mode) {
  return mode ? std::string_view(*mode) : kFilesystem;
}

bool IsTaken(const VolumeRef& volume, std::span<const VolumeRef> taken) {
  return std::ranges::find(taken, volume) != taken.end();
}

// What a volume must have even if it is meant for the claim, beside its size.
bool SuitsAtAll(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  return ModeOf(volume.spec.volume_mode) == ModeOf(claim.spec.volume_mode) &&
         volume.spec.volume_attributes_class_name.value_or("") ==
             claim.spec.volume_attributes_class_name.value_or("") &&
         !volume.metadata.deletion_timestamp;
}

bool SuitsWish(const api::PersistentVolume& volume, const VolumeWish& wish) {
  return SuitsAtAll(volume, *wish.claim) &&
         (!wish.selector || wish.selector->Matches(volume.metadata.labels)) &&
         std::ranges::all_of(wish.claim->spec.access_modes, [&](const std::string& mode) {
           return std::ranges::find(volume.spec.access_modes, mode) != volume.spec.access_modes.end();
         });
}

// Nothing if one of them is none that there is.
std::optional<AccessModes> ModesOf(const std::vector<std::string>& modes) {
  constexpr std::string_view kModes[] = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                         "ReadWriteOncePod"};
  AccessModes bits = 0;
  for (const std::string& mode : modes) {
    const auto at = std::ranges::find(kModes, mode);
    if (at == std::end(kModes)) return std::nullopt;
    bits |= static_cast<AccessModes>(1u << (at - std::begin(kModes)));
  }
  return bits;
}

template <class Spec>
bool IsPlain(const Spec& spec) {
  return ModeOf(spec.volume_mode) == kFilesystem && spec.volume_attributes_class_name.value_or("").empty();
}

// Of a volume that can be used by nodes with one of some values of one label; null for any other.
const api::NodeSelectorRequirement* OnlyLabelOf(const api::NodeSelector& selector) {
  if (selector.node_selector_terms.size() != 1) return nullptr;
  const api::NodeSelectorTerm& term = selector.node_selector_terms.front();
  if (term.match_expressions.size() != 1 || !term.match_fields.empty()) return nullptr;
  const api::NodeSelectorRequirement& expression = term.match_expressions.front();
  return expression.operator_ == "In" && !expression.values.empty() ? &expression : nullptr;
}

}  // namespace

ClassVolumes::Entry ClassVolumes::MakeEntry(const VolumeRef& volume,
                                            std::shared_ptr<const api::NodeMatcher> affinity) {
  Entry entry{volume, std::move(affinity), CapacityOf(*volume)};
  const bool is_plain = IsPlain(volume->spec) && !volume->metadata.deletion_timestamp;
  if (is_plain) entry.plain = ModesOf(volume->spec.access_modes);
  return entry;
}

bool ClassVolumes::Suits(const Entry& entry, const VolumeWish& wish, const Memo& memo) {
  if (memo.plain_ && entry.plain) return (*memo.plain_ & ~*entry.plain) == 0;
  return SuitsWish(*entry.volume, wish);
}

template <class F>
void ClassVolumes::ForEachBucket(const VolumeRef& volume, F&& visit) {
  const auto& affinity = volume->spec.node_affinity;
  const api::NodeSelector* const selector = affinity && affinity->required ? &*affinity->required : nullptr;
  std::shared_ptr<const api::NodeMatcher> matcher;
  if (selector != nullptr) {
    matcher = std::make_shared<const api::NodeMatcher>(api::NodeMatcher::Compile(*selector));
  }
  if (const auto& claim = volume->spec.claim_ref) {
    const auto at = meant_.try_emplace(KeyOf(claim->namespace_, claim->name)).first;
    visit(at->second, MakeEntry(volume, matcher));
    if (at->second.empty()) meant_.erase(at);
    return;
  }
  if (volume->status.phase != kAvailable) return;
  if (selector == nullptr) {
    visit(anywhere_, MakeEntry(volume, nullptr));
    return;
  }
  const api::NodeSelectorRequirement* const label = OnlyLabelOf(*selector);
  // A label that is wrong matches no node, wherever it stands.
  if (label == nullptr || matcher->error()) {
    visit(elsewhere_, MakeEntry(volume, matcher));
    return;
  }
  const auto by_value = by_label_.try_emplace(label->key).first;
  for (const std::string& value : label->values) {
    const auto at = by_value->second.try_emplace(value).first;
    if (at->second == nullptr) at->second = std::make_unique<Bucket>();
    visit(*at->second, MakeEntry(volume, nullptr));
    if (at->second->empty()) by_value->second.erase(at);
  }
  if (by_value->second.empty()) by_label_.erase(by_value);
}

void ClassVolumes::Add(const VolumeRef& volume) {
  ForEachBucket(volume, [](Bucket& bucket, Entry entry) { bucket.insert(std::move(entry)); });
}

void ClassVolumes::Remove(const VolumeRef& volume) {
  ForEachBucket(volume, [](Bucket& bucket, const Entry& entry) { bucket.erase(entry); });
}

const ClassVolumes::Entry* ClassVolumes::FirstFit(const Bucket& bucket, const VolumeWish& wish,
                                                  std::span<const VolumeRef> taken, Memo& memo) {
  const auto [known, is_new] = memo.found_.try_emplace(&bucket);
  auto& found = known->second;
  if (is_new) {
    // Others of the pod may take all but one of them.
    for (auto at = bucket.lower_bound(wish.request); at != bucket.end() && found.size() < memo.claims_;
         ++at) {
      if (Suits(*at, wish, memo)) found.push_back(&*at);
    }
  }
  for (const Entry* const entry : found) {
    if (!IsTaken(entry->volume, taken)) return entry;
  }
  return nullptr;
}

const ClassVolumes::Entry* ClassVolumes::FirstFitOfFew(const Bucket& bucket, const VolumeWish& wish,
                                                       std::span<const VolumeRef> taken, const Memo& memo) {
  for (auto at = bucket.lower_bound(wish.request); at != bucket.end(); ++at) {
    if (!IsTaken(at->volume, taken) && Suits(*at, wish, memo)) return &*at;
  }
  return nullptr;
}

const ClassVolumes::Entry* ClassVolumes::FirstFitOn(const Bucket& bucket, const VolumeWish& wish,
                                                    const cluster::LabelView& node,
                                                    std::span<const VolumeRef> taken, const Memo& memo) {
  for (auto at = bucket.lower_bound(wish.request); at != bucket.end(); ++at) {
    if (IsTaken(at->volume, taken) || !Suits(*at, wish, memo)) continue;
    if (at->affinity == nullptr || at->affinity->Matches("", node)) return &*at;
  }
  return nullptr;
}

const VolumeRef* ClassVolumes::Match(const VolumeWish& wish, const cluster::LabelTable& labels,
                                     cluster::LabelSetId node_labels, std::span<const VolumeRef> taken,
                                     Memo& memo) const {
  const cluster::LabelView node = labels.View(node_labels);
  if (!std::exchange(memo.is_prepared_, true)) {
    const api::PersistentVolumeClaimSpec& spec = wish.claim->spec;
    if (!wish.selector && IsPlain(spec)) memo.plain_ = ModesOf(spec.access_modes);
  }
  if (!meant_.empty()) {
    if (const auto meant = meant_.find(wish.claim_key); meant != meant_.end()) {
      // The first by name decides, whatever its size.
      const Entry* first = nullptr;
      for (const Entry& entry : meant->second) {
        if (IsTaken(entry.volume, taken) || !IsMeantFor(*entry.volume, *wish.claim) ||
            entry.capacity.Compare(wish.request) < 0 || !SuitsAtAll(*entry.volume, *wish.claim)) {
          continue;
        }
        if (first == nullptr || entry.volume->metadata.name < first->volume->metadata.name) first = &entry;
      }
      if (first != nullptr) {
        const bool fits = first->affinity == nullptr || first->affinity->Matches("", node);
        return fits ? &first->volume : nullptr;
      }
    }
  }
  const Entry* best = nullptr;
  const auto consider = [&](const Entry* fit) {
    if (fit != nullptr && (best == nullptr || BySize()(*fit, *best))) best = fit;
  };
  consider(FirstFit(anywhere_, wish, taken, memo));
  for (const auto& [key, by_value] : by_label_) {
    const std::optional<std::string_view> value = node(key);
    if (!value) continue;
    const auto bucket = by_value.find(*value);
    if (bucket == by_value.end()) continue;
    consider(by_value.size() > kSharedValuesMax ? FirstFitOfFew(*bucket->second, wish, taken, memo)
                                                : FirstFit(*bucket->second, wish, taken, memo));
  }
  consider(FirstFitOn(elsewhere_, wish, node, taken, memo));
  return best == nullptr ? nullptr : &best->volume;
}

const ClassVolumes* FreeVolumes::Find(std::string_view class_name) const {
  const auto found = classes_.find(class_name);
  return found == classes_.end() ? nullptr : &found->second;
}

void FreeVolumes::Set(std::string_view name, VolumeRef volume) {
  if (const auto old = volumes_.find(name); old != volumes_.end()) {
    // A volume that nobody can take is in no class.
    if (const auto in = classes_.find(ClassOf(*old->second)); in != classes_.end()) {
      in->second.Remove(old->second);
      if (in->second.empty()) classes_.erase(in);
    }
    volumes_.erase(old);
  }
  if (!volume) return;
  const auto in = classes_.try_emplace(std::string(ClassOf(*volume))).first;
  in->second.Add(volume);
  if (in->second.empty()) classes_.erase(in);
  volumes_.emplace(std::string(name), std::move(volume));
}

}  // namespace berth::plugins
