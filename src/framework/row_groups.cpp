#include "framework/row_groups.h"

#include <algorithm>

#include "base/check.h"
#include "framework/observer.h"
#include "framework/profile.h"

namespace berth::framework {
namespace {

// The ids of a group's classes in one word.
std::uint64_t KeyOf(std::span<const std::uint16_t> classes) {
  std::uint64_t key = 0;
  for (const std::uint16_t id : classes) key = (key << 16) | id;
  return key;
}

}  // namespace

RowGroups::RowGroups(std::span<const Member> members) {
  BERTH_CHECK(members.size() <= kMembersMax);
  for (const Member& member : members) {
    members_.push_back({member, {}, {}});
    facts_ |= member.facts | cluster::kExistsFact;
  }
}

bool RowGroups::HasPlugin(PluginIndex plugin) const {
  return std::ranges::find(members_, plugin, &Asked::plugin) != members_.end();
}

RowGroups::ClassId RowGroups::FindClass(Asked& member, const RowClass& row_class) {
  const auto [found, is_new] = member.ids.try_emplace(row_class);
  if (!is_new) return found->second;
  const auto unused = std::ranges::find(member.classes, std::size_t{0}, &Class::groups);
  found->second = static_cast<ClassId>(unused - member.classes.begin());
  if (unused == member.classes.end()) member.classes.emplace_back();
  member.classes[found->second] = {};
  member.classes[found->second].row_class = row_class;
  return found->second;
}

RowGroup RowGroups::AddGroup(std::uint64_t key) {
  const auto unused = std::ranges::find(groups_, std::size_t{0}, &Group::rows);
  const auto id = static_cast<RowGroup>(unused - groups_.begin());
  if (unused == groups_.end()) {
    groups_.emplace_back();
    addends_.emplace_back();
  }
  Group& group = groups_[id];
  group = {};
  for (std::size_t i = members_.size(); i-- > 0; key >>= 16) {
    group.classes[i] = static_cast<ClassId>(key & 0xffff);
    ++members_[i].classes[group.classes[i]].groups;
  }
  ++group_count_;
  return id;
}

RowGroup RowGroups::Find(const Cycle& cycle, cluster::NodeRow row) {
  ClassId classes[kMembersMax] = {};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    classes[i] = FindClass(members_[i], members_[i].point->ClassOf(cycle, row));
  }
  const std::uint64_t key = KeyOf(std::span(classes).first(members_.size()));
  const auto [found, is_new] = ids_.try_emplace(key);
  if (is_new) found->second = AddGroup(key);
  return found->second;
}

void RowGroups::Leave(RowGroup id) {
  Group& group = groups_[id];
  if (--group.rows > 0) return;
  ids_.erase(KeyOf(std::span(group.classes).first(members_.size())));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Class& left = members_[i].classes[group.classes[i]];
    if (--left.groups == 0) members_[i].ids.erase(left.row_class);
  }
  addends_[id] = {0, false};
  --group_count_;
}

void RowGroups::SetFitting(cluster::NodeRow row, bool fits) {
  if (row.index() >= group_of_.size()) return;
  const RowGroup group = group_of_[row.index()];
  if (group != kNone) groups_[group].fitting += fits ? std::size_t{1} : ~std::size_t{0};
}

void RowGroups::PlaceRow(const Cycle& cycle, cluster::NodeRow row, bool fits, ChangedRows& moved) {
  const RowGroup before = group_of_[row.index()];
  const RowGroup now = cycle.cluster().nodes().exists(row) ? Find(cycle, row) : kNone;
  if (before == now) return;
  group_of_[row.index()] = now;
  moved.Add(row);
  if (now != kNone) {
    ++groups_[now].rows;
    if (fits) ++groups_[now].fitting;
  }
  if (before != kNone) {
    if (fits) --groups_[before].fitting;
    Leave(before);
  }
}

bool RowGroups::Place(const Cycle& cycle, const ChangedRows& stale, const base::Bitset& fitting,
                      ChangedRows& moved) {
  group_of_.resize(fitting.size(), kNone);
  const auto place = [&](cluster::NodeRow row) {
    PlaceRow(cycle, row, fitting.Test(row.index()), moved);
    return group_count_ <= kGroupsMax;
  };
  if (!stale.all()) return std::ranges::all_of(stale.rows(), place);
  for (std::uint32_t row = 0; row < group_of_.size(); ++row) {
    if (!place(cluster::NodeRow(row))) return false;
  }
  return true;
}

void RowGroups::Judge(const Cycle& cycle) {
  for (Asked& member : members_) {
    const bool asks = member.filters && !cycle.IsSkipped(member.plugin);
    Observed observed(asks ? cycle.observer() : nullptr, ExtensionPoint::kFilter, member.plugin);
    const FixedReasons fixed = cycle.profile().fixed_reasons(member.plugin);
    for (Class& each : member.classes) {
      each.refusal = kAccepted;
      if (!asks || each.groups == 0) continue;
      if (const auto reason = member.point->JudgeClass(cycle, each.row_class)) {
        each.refusal = RejectionId(static_cast<std::uint16_t>(fixed.first.value() + *reason));
      }
    }
  }
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    const Group& group = groups_[id];
    bool open = group.rows > 0;
    for (std::size_t i = 0; i < members_.size() && open; ++i) {
      open = !members_[i].classes[group.classes[i]].refusal.IsRefusal();
    }
    addends_[id].open = open;
  }
}

std::size_t RowGroups::FeasibleCount() const {
  std::size_t count = 0;
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    if (addends_[id].open) count += groups_[id].fitting;
  }
  return count;
}

bool RowGroups::AnyClosed() const {
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    if (!addends_[id].open && groups_[id].fitting > 0) return true;
  }
  return false;
}

RejectionId RowGroups::FirstRefusal(const Cycle& cycle, cluster::NodeRow row, RejectionId own) const {
  RejectionId first = own;
  const RowGroup group = group_of_[row.index()];
  if (group == kNone) return first;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const RejectionId refusal = members_[i].classes[groups_[group].classes[i]].refusal;
    if (!refusal.IsRefusal()) continue;
    if (!first.IsRefusal() || members_[i].plugin < cycle.rejections().Get(first).plugin) first = refusal;
  }
  return first;
}

void RowGroups::CountFeasible(std::size_t member) {
  for (Class& each : members_[member].classes) each.feasible = 0;
  for (std::size_t id = 0; id < groups_.size(); ++id) {
    if (!addends_[id].open) continue;
    members_[member].classes[groups_[id].classes[member]].feasible += groups_[id].fitting;
  }
}

Status RowGroups::PreScore(Cycle& cycle, const ScoreColumn& column) {
  const auto found = std::ranges::find(members_, &column, &Asked::column);
  CountFeasible(static_cast<std::size_t>(found - members_.begin()));
  counts_.clear();
  for (const Class& each : found->classes) {
    if (each.groups > 0) counts_.push_back({each.row_class, each.feasible});
  }
  return found->point->PreScoreClasses(cycle, counts_);
}

Status RowGroups::ScoreMember(const Cycle& cycle, std::size_t index) {
  Asked& member = members_[index];
  CountFeasible(index);
  scored_.clear();
  scores_.clear();
  Extent extent;
  for (std::size_t id = 0; id < member.classes.size(); ++id) {
    Class& each = member.classes[id];
    each.raw = each.normalized = 0;
    if (each.feasible == 0) continue;
    each.raw = member.point->ScoreClass(cycle, each.row_class);
    if (each.raw == kNoScore) continue;
    extent.min = extent.count == 0 ? each.raw : std::min(extent.min, each.raw);
    extent.max = extent.count == 0 ? each.raw : std::max(extent.max, each.raw);
    extent.count += each.feasible;
    scored_.push_back(static_cast<ClassId>(id));
    scores_.push_back(each.raw);
  }
  const PlacedScore& placed = member.column->placed();
  if (placed.point->normalizing() == Normalizing::kByExtent) placed.point->Normalize(extent, scores_);
  for (std::size_t i = 0; i < scored_.size(); ++i) {
    if (Status status = ScoreColumn::CheckRange(placed, scores_[i]); !status.IsSuccess()) return status;
    member.classes[scored_[i]].normalized = scores_[i];
  }
  return {};
}

Status RowGroups::Score(const Cycle& cycle) {
  for (TotalIndex::Addend& addend : addends_) addend.amount = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const ScoreColumn* const column = members_[i].column;
    if (column == nullptr || !column->counts()) continue;
    Observed observed(cycle.observer(), ExtensionPoint::kScore, members_[i].plugin);
    if (Status status = ScoreMember(cycle, i); !status.IsSuccess()) return status;
    for (std::size_t id = 0; id < groups_.size(); ++id) {
      if (!addends_[id].open) continue;
      addends_[id].amount += members_[i].classes[groups_[id].classes[i]].normalized * column->placed().weight;
    }
  }
  return {};
}

const RowGroups::Class* RowGroups::ClassOf(const ScoreColumn& column, cluster::NodeRow row) const {
  const auto found = std::ranges::find(members_, &column, &Asked::column);
  return &found->classes[groups_[group_of_[row.index()]].classes[found - members_.begin()]];
}

std::int64_t RowGroups::raw(const ScoreColumn& column, cluster::NodeRow row) const {
  const std::int64_t raw = ClassOf(column, row)->raw;
  return raw == kNoScore ? 0 : raw;
}

std::int64_t RowGroups::weighted(const ScoreColumn& column, cluster::NodeRow row) const {
  return ClassOf(column, row)->normalized * column.placed().weight;
}

std::size_t RowGroups::MemoryBytes() const {
  return sizeof(*this) + group_of_.size() * sizeof(RowGroup) +
         groups_.size() * (sizeof(Group) + members_.size() * sizeof(Class));
}

}  // namespace berth::framework
