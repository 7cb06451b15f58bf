#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/bitset.h"
#include "cluster/facts.h"
#include "cluster/ids.h"
#include "framework/cycle.h"
#include "framework/row_classes.h"
#include "framework/score_column.h"
#include "framework/total_index.h"

namespace berth::framework {

// The rows of a view by what the plugins with classes say of them: rows that are in one class for each of
// these plugins are a group.
//
// 1. Every existing row is in one group, others in none. A group lives while a row is in it.
// 2. A group is open if no plugin refuses the class that the group has with it. The pod fits on a row iff
//    the view's other filters let it, which makes the row a fitting one here, and the row's group is open.
// 3. The addend of an open group is the sum of the weighted scores that its classes have.
//
// Per attempt it costs O(groups) and O(1) for every row that has to be looked at again.
class RowGroups {
 public:
  // More than so many and classes are not worth it.
  static constexpr std::size_t kGroupsMax = 64;
  static constexpr RowGroup kNone = 0xffff;
  static constexpr std::size_t kMembersMax = 4;

  struct Member {
    PluginIndex plugin = 0;
    const ClassPoint* point = nullptr;
    bool filters = false;
    ScoreColumn* column = nullptr;  // null: pods of the view have no score of the plugin
    cluster::Facts facts = 0;       // of a row, that may move it to another class
  };
  explicit RowGroups(std::span<const Member> members);

  // Facts that may move a row to another group.
  cluster::Facts facts() const { return facts_; }
  bool HasPlugin(PluginIndex plugin) const;

  // The row became a fitting one, or ceased to be.
  void SetFitting(cluster::NodeRow row, bool fits);
  // Rows that may be elsewhere now; those that are get into `moved`. False: there are too many groups, and
  // nothing here is good any more.
  bool Place(const Cycle& cycle, const ChangedRows& stale, const base::Bitset& fitting, ChangedRows& moved);
  // Asks all members which classes they refuse.
  void Judge(const Cycle& cycle);
  // After Judge: fitting rows of open groups, and whether others have some.
  std::size_t FeasibleCount() const;
  bool AnyClosed() const;
  bool IsOpen(cluster::NodeRow row) const { return addends_[group_of_[row.index()]].open; }
  // Of the class-wise refusals of the row, that of the first plugin; with it the row's own refusal.
  RejectionId FirstRefusal(const Cycle& cycle, cluster::NodeRow row, RejectionId own) const;

  // The steps of scoring. An error is in the words of an attempt's error.
  Status PreScore(Cycle& cycle, const ScoreColumn& column);
  Status Score(const Cycle& cycle);
  std::int64_t raw(const ScoreColumn& column, cluster::NodeRow row) const;
  std::int64_t weighted(const ScoreColumn& column, cluster::NodeRow row) const;
  std::int64_t addend(cluster::NodeRow row) const { return addends_[group_of_[row.index()]].amount; }

  // By row, and by group.
  std::span<const RowGroup> group_of() const { return group_of_; }
  std::span<const TotalIndex::Addend> addends() const { return addends_; }
  std::size_t MemoryBytes() const;

 private:
  using ClassId = std::uint16_t;
  struct Class {
    RowClass row_class;
    std::size_t groups = 0;  // 0: not in use
    std::size_t feasible = 0;
    RejectionId refusal;
    std::int64_t raw = 0;
    std::int64_t normalized = 0;
  };
  struct Asked : Member {
    std::vector<Class> classes;
    absl::flat_hash_map<RowClass, ClassId> ids;  // looked up, never walked
  };
  struct Group {
    ClassId classes[kMembersMax] = {};
    std::size_t rows = 0;  // 0: not in use
    std::size_t fitting = 0;
  };

  RowGroup Find(const Cycle& cycle, cluster::NodeRow row);
  ClassId FindClass(Asked& member, const RowClass& row_class);
  RowGroup AddGroup(std::uint64_t key);
  void Leave(RowGroup group);
  void PlaceRow(const Cycle& cycle, cluster::NodeRow row, bool fits, ChangedRows& moved);
  void CountFeasible(std::size_t member);
  Status ScoreMember(const Cycle& cycle, std::size_t member);
  const Class* ClassOf(const ScoreColumn& column, cluster::NodeRow row) const;

  std::vector<Asked> members_;
  cluster::Facts facts_ = 0;
  std::vector<RowGroup> group_of_;  // by row
  std::vector<Group> groups_;
  absl::flat_hash_map<std::uint64_t, RowGroup> ids_;  // by the ids of its classes; never walked
  std::size_t group_count_ = 0;
  std::vector<TotalIndex::Addend> addends_;  // by group

  // Kept for their memory.
  std::vector<ClassCount> counts_;
  std::vector<std::int64_t> scores_;
  std::vector<ClassId> scored_;
};

}  // namespace berth::framework
