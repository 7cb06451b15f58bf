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

}  // namespace

VolumeSize::VolumeSize(const api::Quantity& quantity)
    : bytes_(quantity.Value()),
      is_exact_(quantity.ValueFits() && quantity.Compare(api::Quantity::FromInt(bytes_)) == 0),
      quantity_(&quantity) {}

ClassVolumes::Entry ClassVolumes::MakeEntry(const VolumeRef& volume,
                                            std::optional<api::NodeMatcher> affinity) {
  Entry entry{VolumeSize(CapacityOf(*volume)), {}, std::make_shared<Kept>(volume, std::move(affinity))};
  const bool is_plain = IsPlain(volume->spec) && !volume->metadata.deletion_timestamp;
  if (is_plain) entry.plain = ModesOf(volume->spec.access_modes);
  return entry;
}

bool ClassVolumes::Suits(const Entry& entry, const VolumeWish& wish, const Memo& memo) {
  if (memo.plain_ && entry.plain) return (*memo.plain_ & ~*entry.plain) == 0;
  return SuitsWish(*entry.kept->volume, wish);
}

void ClassVolumes::Prepare(const VolumeWish& wish, Memo& memo) {
  if (memo.size_) return;
  memo.size_.emplace(wish.request);
  const api::PersistentVolumeClaimSpec& spec = wish.claim->spec;
  if (!wish.selector && IsPlain(spec)) memo.plain_ = ModesOf(spec.access_modes);
}

template <class F>
void ClassVolumes::ForEachBucket(const VolumeRef& volume, F&& visit) {
  const auto& affinity = volume->spec.node_affinity;
  const api::NodeSelector* const selector = affinity && affinity->required ? &*affinity->required : nullptr;
  std::optional<api::NodeMatcher> matcher;
  if (selector != nullptr) matcher = api::NodeMatcher::Compile(*selector);
  const api::NodeSelectorRequirement* const label = selector == nullptr ? nullptr : OnlyLabelOf(*selector);
  // A label that is wrong matches no node, wherever it stands.
  const PlaceKey key = label == nullptr || matcher->error() ? PlaceKey() : places_.Follow(label->key);
  if (const auto& claim = volume->spec.claim_ref) {
    const auto at = meant_.try_emplace(KeyOf(claim->namespace_, claim->name)).first;
    visit(at->second, MakeEntry(volume, std::move(matcher)), Place());
    if (at->second.empty()) meant_.erase(at);
    return;
  }
  if (volume->status.phase != kAvailable) return;
  if (selector == nullptr) {
    log_.Append({}, StorageReach::kEverywhere);
    visit(anywhere_, MakeEntry(volume, std::nullopt), Place());
    return;
  }
  if (!key.IsValid()) {
    log_.Append({}, StorageReach::kUnknown);
    visit(elsewhere_, MakeEntry(volume, std::move(matcher)), Place());
    return;
  }
  ByValue& by_value = by_label_[key];
  for (const std::string& text : label->values) {
    const Place place = places_.Acquire(key, text);
    log_.Append(place, StorageReach::kPlace);
    const auto at = by_value.try_emplace(place.value).first;
    if (at->second == nullptr) at->second = std::make_unique<Bucket>();
    visit(*at->second, MakeEntry(volume, std::nullopt), place);
    if (at->second->empty()) by_value.erase(at);
    places_.Release(place);
  }
  if (by_value.empty()) by_label_.erase(key);
}

void ClassVolumes::Add(const VolumeRef& volume) {
  ForEachBucket(volume, [&](Bucket& bucket, Entry entry, Place place) {
    if (bucket.insert(std::move(entry)).second && place.key.IsValid()) places_.Acquire(place);
  });
}

void ClassVolumes::Remove(const VolumeRef& volume) {
  ForEachBucket(volume, [&](Bucket& bucket, const Entry& entry, Place place) {
    if (bucket.erase(entry) > 0 && place.key.IsValid()) places_.Release(place);
  });
}

const ClassVolumes::Entry* ClassVolumes::FirstFit(const Bucket& bucket, const VolumeWish& wish,
                                                  std::span<const VolumeRef> taken, Memo& memo) {
  const auto [known, is_new] = memo.found_.try_emplace(&bucket);
  auto& found = known->second;
  if (is_new) {
    // Others of the pod may take all but one of them.
    for (auto at = bucket.lower_bound(*memo.size_); at != bucket.end() && found.size() < memo.claims_; ++at) {
      if (Suits(*at, wish, memo)) found.push_back(&*at);
    }
  }
  for (const Entry* const entry : found) {
    if (!IsTaken(entry->kept->volume, taken)) return entry;
  }
  return nullptr;
}

const ClassVolumes::Entry* ClassVolumes::FirstFitOfFew(const Bucket& bucket, const VolumeWish& wish,
                                                       std::span<const VolumeRef> taken, const Memo& memo) {
  for (auto at = bucket.lower_bound(*memo.size_); at != bucket.end(); ++at) {
    const bool is_taken = !taken.empty() && IsTaken(at->kept->volume, taken);
    if (!is_taken && Suits(*at, wish, memo)) return &*at;
  }
  return nullptr;
}

bool ClassVolumes::CanUse(cluster::NodeRow row, const Kept& kept) const {
  if (!kept.affinity) return true;
  const cluster::Cluster& cluster = places_.cluster();
  return kept.affinity->Matches("", cluster.labels().View(cluster.nodes().label_set()[row.index()]));
}

const ClassVolumes::Entry* ClassVolumes::FirstFitOn(const VolumeWish& wish, cluster::NodeRow row,
                                                    std::span<const VolumeRef> taken,
                                                    const Memo& memo) const {
  for (auto at = elsewhere_.lower_bound(*memo.size_); at != elsewhere_.end(); ++at) {
    if (IsTaken(at->kept->volume, taken) || !Suits(*at, wish, memo)) continue;
    if (CanUse(row, *at->kept)) return &*at;
  }
  return nullptr;
}

// The first by name decides, whatever its size.
const ClassVolumes::Entry* ClassVolumes::MeantFor(const VolumeWish& wish, std::span<const VolumeRef> taken,
                                                  const Memo& memo) const {
  const auto meant = meant_.find(wish.claim_key);
  if (meant == meant_.end()) return nullptr;
  const Entry* first = nullptr;
  for (const Entry& entry : meant->second) {
    const VolumeRef& volume = entry.kept->volume;
    if (IsTaken(volume, taken) || !IsMeantFor(*volume, *wish.claim) || entry.size.Compare(*memo.size_) < 0 ||
        !SuitsAtAll(*volume, *wish.claim)) {
      continue;
    }
    if (first == nullptr || volume->metadata.name < first->kept->volume->metadata.name) first = &entry;
  }
  return first;
}

std::optional<VolumeFit> ClassVolumes::Match(const VolumeWish& wish, cluster::NodeRow row,
                                             std::span<const VolumeRef> taken, Memo& memo) const {
  Prepare(wish, memo);
  const Entry* best = nullptr;
  if (!meant_.empty()) best = MeantFor(wish, taken, memo);
  if (best != nullptr) {
    if (!CanUse(row, *best->kept)) return std::nullopt;
    return VolumeFit{&best->kept->volume, best->size};
  }
  const auto consider = [&](const Entry* fit) {
    if (fit != nullptr && (best == nullptr || *fit < *best)) best = fit;
  };
  if (!anywhere_.empty()) consider(FirstFit(anywhere_, wish, taken, memo));
  for (const auto& [key, by_value] : by_label_) {
    const PlaceValue value = places_.ValueOf(key, row);
    if (!value.IsValid()) continue;
    const auto bucket = by_value.find(value);
    if (bucket == by_value.end()) continue;
    consider(by_value.size() > kSharedValuesMax ? FirstFitOfFew(*bucket->second, wish, taken, memo)
                                                : FirstFit(*bucket->second, wish, taken, memo));
  }
  if (!elsewhere_.empty()) consider(FirstFitOn(wish, row, taken, memo));
  if (best == nullptr) return std::nullopt;
  return VolumeFit{&best->kept->volume, best->size};
}

std::optional<VolumeFit> ClassVolumes::SmallestAt(const VolumeWish& wish, Place place, Memo& memo) const {
  const auto by_value = by_label_.find(place.key);
  if (by_value == by_label_.end()) return std::nullopt;
  const auto bucket = by_value->second.find(place.value);
  if (bucket == by_value->second.end()) return std::nullopt;
  Prepare(wish, memo);
  const Entry* const first = FirstFitOfFew(*bucket->second, wish, {}, memo);
  if (first == nullptr) return std::nullopt;
  return VolumeFit{&first->kept->volume, first->size};
}

std::optional<VolumeFit> ClassVolumes::SmallestEverywhere(const VolumeWish& wish, Memo& memo) const {
  Prepare(wish, memo);
  const Entry* const first = FirstFitOfFew(anywhere_, wish, {}, memo);
  if (first == nullptr) return std::nullopt;
  return VolumeFit{&first->kept->volume, first->size};
}

const ClassVolumes* FreeVolumes::Find(std::string_view class_name) const {
  const auto found = classes_.find(class_name);
  return found == classes_.end() ? nullptr : &found->second;
}

void FreeVolumes::Set(std::string_view name, VolumeRef volume) {
  ++version_;
  if (const auto old = volumes_.find(name); old != volumes_.end()) {
    // A volume that nobody can take is in no class.
    if (const auto in = classes_.find(ClassOf(*old->second)); in != classes_.end()) {
      in->second.Remove(old->second);
      if (in->second.empty()) classes_.erase(in);
    }
    volumes_.erase(old);
  }
  if (!volume) return;
  const auto in = classes_.try_emplace(std::string(ClassOf(*volume)), places_, log_).first;
  in->second.Add(volume);
  if (in->second.empty()) classes_.erase(in);
  volumes_.emplace(std::string(name), std::move(volume));
}

}  // namespace berth::plugins
