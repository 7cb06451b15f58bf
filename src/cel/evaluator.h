#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cel/plan.h"
#include "cel/value.h"

namespace berth::cel {

// What an evaluation may use.
struct Budget {
  std::uint64_t cost_limit = 1'000'000;
  // Asked every hundred iterations of a loop; true ends the evaluation. Null: never.
  std::function<bool()> interrupted = nullptr;
};

// Runs a plan once and counts what that costs.
//
// Costs are upstream's, step by step: a name costs 1, each selection or index after it 1, a call what its
// rule says. They are part of the behaviour: above the limit the evaluation ends at once, and || does not
// absorb that.
class Evaluator {
 public:
  Evaluator(const Plan& plan, const Value& device, const Budget& budget);

  // An error if the evaluation failed or was cancelled.
  Value Run();
  std::uint64_t cost() const { return cost_; }

 private:
  struct Variable {
    Value value;
    // What gives the variable its value when it is first read.
    NodeIndex pending = 0;
    bool is_pending = false;
  };

  Value Eval(NodeIndex index);
  // The same value where it lies, or in `holder`: what is only looked at need not be copied. Good until the
  // next evaluation of another variable.
  const Value& EvalInPlace(NodeIndex index, Value& holder);
  const Value& FollowPath(const Chain& chain, Value& holder);
  // Where the steps of an optional path lead: null if nowhere. An error is in `holder`.
  const Value* FollowOptionalPath(const Chain& chain, const Value& start, Value& holder);
  // The value of an index or of a branch of ?:, which are charged without the 1 for the start of a chain.
  Value EvalPart(NodeIndex index);
  Value EvalLogical(const Node& node, bool absorbing);
  Value EvalCall(const Node& node);
  Value EvalEquality(const Node& node);
  Value EvalOptionalOr(const Node& node);
  Value EvalList(const Node& node);
  Value EvalMap(const Node& node);
  Value EvalMessage(const Node& node);
  Value EvalLoop(const Node& node);
  bool Iterate(const LoopPlan& loop);

  Value EvalChain(const Chain& chain);
  Value ResolveChain(const Chain& chain);
  Value StartOf(const Chain& chain);
  Value Qualify(const Chain& chain, Value value);
  // The value one step in; found: whether there is one. An error is found.
  Value Step(const Qualifier& qualifier, const Value& value, bool optional, bool& found);

  const Value& ReadSlot(Slot slot);
  NodeIndex Child(const Node& node, std::uint32_t number) const {
    return plan_.children[node.first_child + number];
  }

  void Charge(std::uint64_t cost);
  void Cancel(std::string why);

  const Plan& plan_;
  const Value& device_;
  const Budget& budget_;
  std::vector<Variable> slots_;
  std::uint64_t cost_ = 0;
  std::uint64_t iterations_ = 0;
  bool cancelled_ = false;
  Value cancellation_;
};

}  // namespace berth::cel
