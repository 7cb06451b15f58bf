#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/registry.h"
#include "cel/value.h"

namespace berth::cel {

// How a call is charged. Sizes are of the run-time values; what a rule needs is known when the program is
// made.
enum class CostRule : std::uint8_t {
  kOne,
  kEqual,            // ==: the smaller operand, but 1 for a Kubernetes type on the left
  kSmaller,          // the smaller operand
  kBoth,             // both operands
  kFirst,            // the first operand
  kFirstTwice,       // the first operand, read and written
  kSecond,           // the second operand
  kProduct,          // contains: first times second
  kRegex,            // length times pattern
  kListSearch,       // x in list: its items
  kTraversal,        // everything inside the first operand
  kJoin,             // the result, written twice
  kSetsOnce,         // items times items
  kSetsTwice,        // the same both ways
  kListResult,       // a new list: its items
  kFlatten,          // items times depth
  kSelfCompare,      // every item with every other
  kSelfCompareKeys,  // the same with the second operand
  kContainsIp,
  kContainsIpText,
  kContainsCidr,
  kContainsCidrText,
  kValidate,
};

// only: the overload if exactly one fits at compile time, else null: then what depends on it costs 1.
CostRule CostRuleOf(std::string_view function, const Overload* only);

// The cost of a call with these arguments, errors among them. For rules that look at the result: see
// CostOfResult.
std::uint64_t CostOfCall(CostRule rule, std::span<const Value> arguments);
// The same for two operands of == or !=, wherever they are.
std::uint64_t CostOfComparison(CostRule rule, const Value& left, const Value& right);
bool DependsOnResult(CostRule rule);
std::uint64_t CostOfResult(CostRule rule, const Value& result);

inline constexpr std::uint64_t kListLiteralCost = 10;
inline constexpr std::uint64_t kMapLiteralCost = 30;
inline constexpr std::uint64_t kMessageLiteralCost = 40;

}  // namespace berth::cel
