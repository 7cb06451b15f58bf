#include "cel/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "cel/limits.h"
#include "cel/named_format.h"
#include "cel/net.h"

namespace berth::cel {
namespace {

// Cost per code point that is read, and per character of a pattern.
constexpr double kTraversalFactor = 0.1;
constexpr double kPatternFactor = 0.25;
constexpr std::uint64_t kAllocatingCall = 11;

struct Rule {
  std::string_view name;
  CostRule rule;
};

// By function, whatever overload is called.
constexpr std::array kByFunction = {
    Rule{"_==_", CostRule::kEqual},
    Rule{"_!=_", CostRule::kSmaller},
    Rule{"isSorted", CostRule::kTraversal},
    Rule{"sum", CostRule::kTraversal},
    Rule{"max", CostRule::kTraversal},
    Rule{"min", CostRule::kTraversal},
    Rule{"indexOf", CostRule::kTraversal},
    Rule{"lastIndexOf", CostRule::kTraversal},
    Rule{"includes", CostRule::kTraversal},
    Rule{"url", CostRule::kFirst},
    Rule{"lowerAscii", CostRule::kFirst},
    Rule{"upperAscii", CostRule::kFirst},
    Rule{"substring", CostRule::kFirst},
    Rule{"trim", CostRule::kFirst},
    Rule{"quantity", CostRule::kFirst},
    Rule{"isQuantity", CostRule::kFirst},
    Rule{"semver", CostRule::kFirst},
    Rule{"isSemver", CostRule::kFirst},
    Rule{"cidr", CostRule::kFirst},
    Rule{"isIP", CostRule::kFirst},
    Rule{"isCIDR", CostRule::kFirst},
    Rule{"ip", CostRule::kFirst},
    Rule{"replace", CostRule::kFirstTwice},
    Rule{"split", CostRule::kFirstTwice},
    Rule{"ip.isCanonical", CostRule::kFirstTwice},
    Rule{"join", CostRule::kJoin},
    Rule{"find", CostRule::kRegex},
    Rule{"findAll", CostRule::kRegex},
    Rule{"containsIP", CostRule::kContainsIp},
    Rule{"containsCIDR", CostRule::kContainsCidr},
    Rule{"validate", CostRule::kValidate},
};

// By overload, if only one fits. These come before the rules by function.
constexpr std::array kByOverload = {
    Rule{"cidr_ip", CostRule::kOne},
    Rule{"cidr_contains_ip_string", CostRule::kContainsIpText},
    Rule{"cidr_contains_cidr_string", CostRule::kContainsCidrText},
    Rule{"starts_with_string", CostRule::kSecond},
    Rule{"ends_with_string", CostRule::kSecond},
    Rule{"contains_string", CostRule::kProduct},
    Rule{"matches", CostRule::kRegex},
    Rule{"matches_string", CostRule::kRegex},
    Rule{"string_to_bytes", CostRule::kFirst},
    Rule{"bytes_to_string", CostRule::kFirst},
    Rule{"strings_quote", CostRule::kFirst},
    Rule{"string_format", CostRule::kFirst},
    Rule{"in_list", CostRule::kListSearch},
    Rule{"add_string", CostRule::kBoth},
    Rule{"add_bytes", CostRule::kBoth},
    Rule{"less_string", CostRule::kSmaller},
    Rule{"less_bytes", CostRule::kSmaller},
    Rule{"less_equals_string", CostRule::kSmaller},
    Rule{"less_equals_bytes", CostRule::kSmaller},
    Rule{"greater_string", CostRule::kSmaller},
    Rule{"greater_bytes", CostRule::kSmaller},
    Rule{"greater_equals_string", CostRule::kSmaller},
    Rule{"greater_equals_bytes", CostRule::kSmaller},
    Rule{"list_sets_contains_list", CostRule::kSetsOnce},
    Rule{"list_sets_intersects_list", CostRule::kSetsOnce},
    Rule{"list_sets_equivalent_list", CostRule::kSetsTwice},
    Rule{"list_slice", CostRule::kListResult},
    Rule{"lists_range", CostRule::kListResult},
    Rule{"list_reverse", CostRule::kListResult},
    Rule{"list_flatten", CostRule::kFlatten},
    Rule{"list_flatten_int", CostRule::kFlatten},
    Rule{"list_distinct", CostRule::kSelfCompare},
};

template <std::size_t Size>
const Rule* FindRule(const std::array<Rule, Size>& rules, std::string_view name) {
  const auto it =
      std::find_if(rules.begin(), rules.end(), [name](const Rule& rule) { return rule.name == name; });
  return it == rules.end() ? nullptr : &*it;
}

std::uint64_t SizeOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return static_cast<std::uint64_t>(CodePointCount(value.text()));
    case Kind::kBytes:
      return value.text().size();
    case Kind::kList:
      return value.list().size();
    case Kind::kMap:
      return value.map().entries.size();
    case Kind::kIp:
      return value.ip().size();
    case Kind::kCidr:
      return static_cast<std::uint64_t>((value.cidr().length + 7) / 8);
    default:
      return 1;
  }
}

// In comparisons an optional counts as its content.
std::uint64_t ContentSizeOf(const Value& value) {
  if (value.kind() == Kind::kOptional && value.has_content()) return ContentSizeOf(value.content());
  return SizeOf(value);
}

std::uint64_t Traverse(double size) { return static_cast<std::uint64_t>(std::ceil(size * kTraversalFactor)); }
std::uint64_t Traverse(std::uint64_t size) { return Traverse(static_cast<double>(size)); }

std::uint64_t SmallerOf(const Value& left, const Value& right) {
  return Traverse(std::min(ContentSizeOf(left), ContentSizeOf(right)));
}

bool IsKubernetesType(Kind kind) { return kind >= Kind::kQuantity; }

// Lists may share their items, so that there is more to walk through than there is memory: visits ends the
// walk. What it would have cost is beyond any limit by then.
std::uint64_t FullTraversal(const Value& value, std::size_t& visits) {
  if (visits == 0) return kListItemsMax;
  --visits;
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes:
      return static_cast<std::uint64_t>(static_cast<double>(value.text().size()) * kTraversalFactor);
    case Kind::kList: {
      std::uint64_t cost = 0;
      for (const Value& item : value.list()) {
        cost += FullTraversal(item, visits);
        if (visits == 0) break;
      }
      return cost;
    }
    case Kind::kMap: {
      std::uint64_t cost = 0;
      for (const auto& [key, item] : value.map().entries) {
        cost += FullTraversal(key, visits) + FullTraversal(item, visits);
        if (visits == 0) break;
      }
      return cost;
    }
    default:
      return 1;
  }
}

std::uint64_t FullTraversal(const Value& value) {
  std::size_t visits = kListItemsMax;
  const std::uint64_t cost = FullTraversal(value, visits);
  return visits == 0 ? kListItemsMax : cost;
}

std::uint64_t AllocatingCall(double factor, std::uint64_t size) {
  return kAllocatingCall + static_cast<std::uint64_t>(static_cast<double>(size) * factor);
}

// Where the list is none, or an error, upstream crashes; such a call costs 1.
std::uint64_t SelfCompare(const Value& list) {
  if (list.kind() != Kind::kList) return 1;
  const std::uint64_t size = list.list().size();
  const bool text =
      size > 0 && (list.list().front().kind() == Kind::kString || list.list().front().kind() == Kind::kBytes);
  return AllocatingCall(text ? 2.0 + kTraversalFactor : 2.0, size * size);
}

std::uint64_t FlattenCost(std::span<const Value> arguments) {
  if (arguments.size() == 1) return AllocatingCall(1, SizeOf(arguments[0]));
  if (arguments[1].kind() != Kind::kInt) return 1;
  const auto depth = static_cast<double>(arguments[1].integer());
  return AllocatingCall(depth < 0 ? 1 : depth, SizeOf(arguments[0]));
}

std::uint64_t RegexCost(std::uint64_t length, std::uint64_t pattern_cost) {
  return Traverse(1.0 + static_cast<double>(length)) * pattern_cost;
}

std::uint64_t PatternCost(const Value& pattern) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(SizeOf(pattern)) * kPatternFactor));
}

std::uint64_t ContainsIpCost(const Value& cidr) { return Traverse(2 * SizeOf(cidr)); }
std::uint64_t ContainsCidrCost(const Value& cidr) {
  return Traverse(2 * SizeOf(cidr)) + Traverse(SizeOf(cidr)) + 1;
}

}  // namespace

CostRule CostRuleOf(std::string_view function, const Overload* only) {
  if (only != nullptr) {
    if (const Rule* rule = FindRule(kByOverload, only->id)) return rule->rule;
    if (function == "sort") return CostRule::kSelfCompare;
    if (function == "@sortByAssociatedKeys") return CostRule::kSelfCompareKeys;
  }
  const Rule* rule = FindRule(kByFunction, function);
  return rule == nullptr ? CostRule::kOne : rule->rule;
}

std::uint64_t CostOfComparison(CostRule rule, const Value& left, const Value& right) {
  if (rule == CostRule::kEqual && IsKubernetesType(left.kind())) return 1;
  return SmallerOf(left, right);
}

bool DependsOnResult(CostRule rule) { return rule == CostRule::kJoin || rule == CostRule::kListResult; }

std::uint64_t CostOfResult(CostRule rule, const Value& result) {
  if (rule == CostRule::kJoin) return Traverse(static_cast<double>(SizeOf(result)) * 2);
  return kAllocatingCall + SizeOf(result);
}

std::uint64_t CostOfCall(CostRule rule, std::span<const Value> arguments) {
  switch (rule) {
    case CostRule::kEqual:
    case CostRule::kSmaller:
      return CostOfComparison(rule, arguments[0], arguments[1]);
    case CostRule::kBoth:
      return Traverse(SizeOf(arguments[0]) + SizeOf(arguments[1]));
    case CostRule::kFirst:
      return Traverse(SizeOf(arguments[0]));
    case CostRule::kFirstTwice:
      return Traverse(static_cast<double>(SizeOf(arguments[0])) * 2);
    case CostRule::kSecond:
      return Traverse(SizeOf(arguments[1]));
    case CostRule::kProduct:
      return Traverse(SizeOf(arguments[0])) * Traverse(SizeOf(arguments[1]));
    case CostRule::kRegex:
      return RegexCost(SizeOf(arguments[0]), PatternCost(arguments[1]));
    case CostRule::kListSearch:
      return SizeOf(arguments[1]);
    case CostRule::kTraversal:
      return FullTraversal(arguments[0]);
    case CostRule::kSetsOnce:
      return 1 + SizeOf(arguments[0]) * SizeOf(arguments[1]);
    case CostRule::kSetsTwice:
      return 1 + 2 * SizeOf(arguments[0]) * SizeOf(arguments[1]);
    case CostRule::kFlatten:
      return FlattenCost(arguments);
    case CostRule::kSelfCompare:
      return SelfCompare(arguments[0]);
    case CostRule::kSelfCompareKeys:
      return SelfCompare(arguments[1]);
    case CostRule::kContainsIp:
      return ContainsIpCost(arguments[0]);
    case CostRule::kContainsIpText:
      return ContainsIpCost(arguments[0]) + Traverse(SizeOf(arguments[1]));
    case CostRule::kContainsCidr:
      return ContainsCidrCost(arguments[0]);
    case CostRule::kContainsCidrText:
      return ContainsCidrCost(arguments[0]) + Traverse(SizeOf(arguments[1]));
    case CostRule::kValidate:
      if (arguments[0].kind() != Kind::kFormat) return 1;
      return RegexCost(SizeOf(arguments[1]), arguments[0].format().regex_cost);
    case CostRule::kOne:
    case CostRule::kJoin:
    case CostRule::kListResult:
      return 1;
  }
  return 1;
}

}  // namespace berth::cel
