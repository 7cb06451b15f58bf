#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/check.h"
#include "cluster/ids.h"
#include "framework/rejections.h"

namespace berth::framework {

// A number that a plugin gives to one of its fixed refusals: the index in Plugin::Reasons().
using ReasonId = std::uint16_t;

// The rows that are still possible for a pod, and where the refusals of the others are written. The currency
// between filters: a plugin takes rows out and says why, and never puts one back.
//
// The rows are a bitset when all nodes are judged and a list when a few are (changed rows of a view, one node
// of a dry run); plugins need not know which. Every row is visited ascending. Nothing here allocates.
class NodeSelection {
 public:
  // `refusals` is by row and covers every row of the selection.
  NodeSelection(base::Bitset& rows, std::span<RejectionId> refusals, RejectionTable& table)
      : bits_(&rows), refusals_(refusals), table_(table) {}
  NodeSelection(std::vector<cluster::NodeRow>& rows, std::span<RejectionId> refusals, RejectionTable& table)
      : list_(&rows), refusals_(refusals), table_(table) {}
  NodeSelection(const NodeSelection&) = delete;
  NodeSelection& operator=(const NodeSelection&) = delete;

  static cluster::NodeRow RowOf(std::size_t bit) { return cluster::NodeRow(static_cast<std::uint32_t>(bit)); }

  // Rows are many, so that preparing a table for them pays.
  bool is_whole() const { return bits_ != nullptr; }
  bool empty() const { return bits_ ? bits_->None() : list_->empty(); }
  std::size_t size() const { return bits_ ? bits_->Count() : list_->size(); }

  template <class F>
  void ForEach(F&& visit) const {
    if (bits_) {
      bits_->ForEach([&](std::size_t bit) { visit(RowOf(bit)); });
    } else {
      for (const cluster::NodeRow row : *list_) visit(row);
    }
  }

  // Refuses the rows for which refuse(row) is true, all for the same fixed reason.
  template <class F>
  void RemoveIf(ReasonId reason, F&& refuse) {
    const RejectionId id = Fixed(reason);
    Judge([&](cluster::NodeRow row) { return refuse(row) ? id : kAccepted; });
  }

  // judge(row) says why the row is refused: kAccepted, Fixed(...) or an id from Intern().
  template <class F>
  void Judge(F&& judge) {
    const auto refused = [&](cluster::NodeRow row) {
      const RejectionId id = judge(row);
      if (id.IsRefusal()) refusals_[row.index()] = id;
      return id.IsRefusal();
    };
    if (bits_) {
      bits_->RemoveIf([&](std::size_t bit) { return refused(RowOf(bit)); });
    } else {
      std::erase_if(*list_, refused);
    }
  }

  // For kernels over columns: refuse(first, count) looks at the rows first to first + count - 1, at most 64,
  // and returns a bit for each that is refused. It may be asked about rows that are not selected; their bits
  // do not matter.
  template <class F>
  void RemoveRuns(ReasonId reason, F&& refuse) {
    if (!bits_) {
      RemoveIf(reason, [&](cluster::NodeRow row) { return (refuse(row.index(), std::size_t{1}) & 1u) != 0; });
      return;
    }
    const RejectionId id = Fixed(reason);
    const std::span<std::uint64_t> words = bits_->words();
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (words[index] == 0) continue;
      const std::size_t first = index * 64;
      const std::uint64_t asked = refuse(first, std::min<std::size_t>(64, bits_->size() - first));
      const std::uint64_t gone = words[index] & asked;
      words[index] &= ~gone;
      for (std::uint64_t rest = gone; rest != 0; rest &= rest - 1) {
        refusals_[first + static_cast<std::size_t>(std::countr_zero(rest))] = id;
      }
    }
  }

  // As Judge, for filters that refuse few rows and can tell by columns which ones may be refused:
  // suspect(first, count) is as refuse of RemoveRuns, and only rows that it names are judged.
  template <class S, class F>
  void JudgeSuspects(S&& suspect, F&& judge) {
    if (!bits_) {
      Judge(judge);
      return;
    }
    const std::span<std::uint64_t> words = bits_->words();
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (words[index] == 0) continue;
      const std::size_t first = index * 64;
      const std::uint64_t suspects =
          words[index] & suspect(first, std::min<std::size_t>(64, bits_->size() - first));
      for (std::uint64_t rest = suspects; rest != 0; rest &= rest - 1) {
        const std::size_t bit = first + static_cast<std::size_t>(std::countr_zero(rest));
        const RejectionId id = judge(RowOf(bit));
        if (!id.IsRefusal()) continue;
        refusals_[bit] = id;
        bits_->Clear(bit);
      }
    }
  }

  void RemoveAll(ReasonId reason) {
    RemoveIf(reason, [](cluster::NodeRow) { return true; });
  }

  RejectionId Fixed(ReasonId reason) const {
    BERTH_DCHECK(reason < fixed_count_);
    return RejectionId(static_cast<std::uint16_t>(first_fixed_.value() + reason));
  }
  // Several reasons at once, or one with a parameter. A plugin that calls this per row keeps the ids in its
  // plan, by what they depend on; they last as long as the plan.
  RejectionId Intern(Code code, std::vector<Reason> reasons) {
    return table_.Intern({plugin_, code, std::move(reasons)});
  }
  // The attempt as a whole fails with this error; the first one stays. Rows are left as they are.
  void Fail(cluster::NodeRow row, Status error) {
    if (error_.IsSuccess()) {
      error_ = std::move(error);
      error_row_ = row;
    }
  }

  // For the engine: whose turn it is.
  void BeginPlugin(PluginIndex plugin, RejectionId first_fixed, std::size_t fixed_count) {
    plugin_ = plugin;
    first_fixed_ = first_fixed;
    fixed_count_ = fixed_count;
  }
  const Status& error() const { return error_; }
  cluster::NodeRow error_row() const { return error_row_; }

 private:
  base::Bitset* bits_ = nullptr;  // one of the two
  std::vector<cluster::NodeRow>* list_ = nullptr;
  std::span<RejectionId> refusals_;
  RejectionTable& table_;
  PluginIndex plugin_ = 0;
  RejectionId first_fixed_;
  std::size_t fixed_count_ = 0;
  Status error_;
  cluster::NodeRow error_row_;
};

}  // namespace berth::framework
