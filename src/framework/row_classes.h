#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "cluster/ids.h"
#include "framework/node_selection.h"
#include "framework/plan.h"
#include "framework/status.h"

namespace berth::framework {

class Cycle;

// What of a row a plugin looks at, where that takes few values: the zone it is in, how many pods of a kind it
// has. Only the plugin that made it knows what is in it.
struct RowClass {
  std::uint64_t place = 0;
  std::int64_t value = 0;

  bool operator==(const RowClass&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const RowClass& c) {
    return H::combine(std::move(h), c.place, c.value);
  }
};

struct ClassCount {
  RowClass row_class;
  std::size_t feasible = 0;  // rows on which the pod fits
};

enum class ClassUse : std::uint8_t {
  kImpossible,
  kNoGain,  // asking by row costs as little
  kGain,
};

// For stateful plugins whose verdict and raw score are the same for all rows of a class. A pod that is placed
// in a zone moves the answer for a third of the cluster; told by class, that is one answer instead of a third
// of the rows.
//
// A view turns to classes when its pods keep coming, and back to rows if there are too many classes. Filter
// and Score have to give the same answers all the same: views that are new use them, and verify_views
// compares.
class ClassPoint {
 public:
  virtual ~ClassPoint() = default;

  // What classes would be good for with this state.
  virtual ClassUse Classes(const Cycle& cycle, const State& state) const = 0;
  // From now on Refresh reports only rows whose class may have moved for a reason other than a fact that the
  // plan's reads name; answers for classes are asked anew at every attempt.
  virtual void UseClasses(Cycle& cycle, State& state) const = 0;
  virtual RowClass ClassOf(const Cycle& cycle, cluster::NodeRow row) const = 0;

  // Why rows of the class are refused, as FilterPoint would say: one of the plugin's fixed reasons.
  virtual std::optional<ReasonId> JudgeClass(const Cycle&, const RowClass&) const { return std::nullopt; }
  // In place of ScorePoint::PreScore. Classes without feasible rows may be among them.
  virtual Status PreScoreClasses(Cycle&, std::span<const ClassCount>) const { return {}; }
  // The raw score, as ScorePoint would give it.
  virtual std::int64_t ScoreClass(const Cycle&, const RowClass&) const { return 0; }
};

}  // namespace berth::framework
