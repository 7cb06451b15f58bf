#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "base/error.h"
#include "cel/ast.h"
#include "cel/cost.h"
#include "cel/regex.h"
#include "cel/registry.h"
#include "cel/value.h"

namespace berth::cel {

using NodeIndex = std::uint32_t;
using Slot = std::uint32_t;

enum class Op : std::uint8_t {
  kConstant,          // detail: constants
  kChain,             // detail: chains. Names, selections, indexes and ?:
  kAnd,               // children
  kOr,                // children
  kCall,              // children are the arguments, receiver first; detail: calls
  kEqual,             // two children
  kNotEqual,          // two children
  kNotStrictlyFalse,  // one child
  kInSet,             // one child; detail: sets
  kOptionalOr,        // two children
  kOptionalOrValue,   // two children
  kList,              // children; detail: literals
  kMap,               // children: key, value, ...; detail: literals
  kMessage,           // children; detail: literals
  kLoop,              // detail: loops
};

struct Node {
  Op op = Op::kConstant;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::uint32_t detail = 0;
};

struct CallSite {
  const Function* function = nullptr;
  std::vector<const Overload*> overloads;  // those that fit at compile time
  CostRule cost = CostRule::kOne;
  // Later arguments are not evaluated after an error; else all are.
  bool stops_at_error = false;
  bool grows_accumulator = false;
  std::shared_ptr<const Regex> regex;  // of a constant pattern
  // Of semver("1.2.3") and the like, computed once: such a call only costs what it costs.
  std::optional<Value> known;
  std::uint64_t known_cost = 0;
};

// One step from a value into it: .f, .?f, [k], [?k].
struct Qualifier {
  bool optional = false;
  bool presence_test = false;
  bool constant = true;
  Value key;            // if constant
  NodeIndex index = 0;  // else
};

// A start and steps from it. The start of a chain and the steps are charged apart, see Evaluator.
struct Chain {
  enum class Start : std::uint8_t { kDevice, kSlot, kNode, kConditional };

  Start start = Start::kDevice;
  Slot slot = 0;
  NodeIndex node = 0;     // operand, or condition
  NodeIndex if_true = 0;  // of a conditional
  NodeIndex if_false = 0;
  std::vector<Qualifier> qualifiers;
  bool presence_test = false;
  // From the device or a variable by constant steps, none of them a presence test: nothing on the way is
  // computed, so the value can be looked at where it lies.
  bool is_path = false;
  bool has_optional = false;  // some step is optional
};

struct LoopPlan {
  NodeIndex range = 0;
  NodeIndex start = 0;
  NodeIndex condition = 0;
  NodeIndex step = 0;
  NodeIndex result = 0;
  Slot accumulator = 0;
  Slot variable = 0;
  Slot second_variable = 0;
  bool two_variables = false;
};

struct LiteralPlan {
  std::vector<bool> optional;
  bool has_optional = false;
  std::string message;  // type name
  std::vector<std::string> fields;
};

// Constants to look a value up in: texts as they are, other scalars by SetKey.
struct ConstantSet {
  absl::flat_hash_set<std::string> texts;
  absl::flat_hash_set<std::string> others;
};

// An expression ready to run: nodes in one array, children by index, names turned into slots.
struct Plan {
  std::vector<Node> nodes;
  std::vector<NodeIndex> children;
  std::vector<Value> constants;
  std::vector<Chain> chains;
  std::vector<CallSite> calls;
  std::vector<ConstantSet> sets;
  std::vector<LoopPlan> loops;
  std::vector<LiteralPlan> literals;
  NodeIndex root = 0;
  std::uint32_t slot_count = 0;
};

// Requires an expression that checks. Constant parts are computed here; the error is that of one that fails.
base::Result<Plan> MakePlan(const Expr& expr);

// The form in which a scalar that is no text is looked up in a set of constants; empty for a value that no
// set holds.
std::string SetKey(const Value& value);

// Calls the first overload that fits the arguments.
Value CallOverloads(const CallSite& call, std::span<Value> arguments);

}  // namespace berth::cel
