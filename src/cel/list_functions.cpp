// Lists: the extension of the language, Kubernetes' library, and sets.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "cel/limits.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

constexpr std::int64_t kRangeMax = 1'000'000;

Value Slice(Arguments arguments) {
  const List& list = arguments[0].list();
  const std::int64_t start = arguments[1].integer();
  const std::int64_t end = arguments[2].integer();
  const auto cannot = [&](std::string_view why) {
    return Value::Error(fmt::format("cannot slice({}, {}), {}", start, end, why));
  };
  if (start < 0 || end < 0) return cannot("negative indexes not supported");
  if (start > end) return cannot("start index must be less than or equal to end index");
  if (std::cmp_less(list.size(), end)) return cannot(fmt::format("list is length {}", list.size()));
  return Value::OfList(List(list.begin() + start, list.begin() + end));
}

// False if there is too much to look at: lists may share their items.
bool Flatten(const List& list, std::int64_t depth, List& flat, std::size_t& visits) {
  for (const Value& item : list) {
    if (++visits > kListItemsMax) return false;
    if (item.kind() != Kind::kList || depth == 0) {
      flat.push_back(item);
    } else if (!Flatten(item.list(), depth - 1, flat, visits)) {
      return false;
    }
  }
  return true;
}

Value FlattenTo(const Value& list, std::int64_t depth) {
  if (depth < 0) return Value::Error("level must be non-negative");
  List flat;
  std::size_t visits = 0;
  if (!Flatten(list.list(), depth, flat, visits)) return Value::Error("result of flatten is too large");
  return Value::OfList(std::move(flat));
}

Value FlattenAny(Arguments arguments) {
  const bool is_list = arguments[0].kind() == Kind::kList;
  if (arguments.size() == 1) {
    if (is_list) return FlattenTo(arguments[0], 1);
    return Value::Error(fmt::format("no such overload: {}.flatten()", TypeName(arguments[0])));
  }
  if (is_list && arguments[1].kind() == Kind::kInt) return FlattenTo(arguments[0], arguments[1].integer());
  return Value::Error(
      fmt::format("no such overload: {}.flatten({})", TypeName(arguments[0]), TypeName(arguments[1])));
}

// The list in the order of its keys.
Value SortByKeys(const List& list, const List& keys) {
  if (list.size() != keys.size()) {
    return Value::Error(fmt::format(
        "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} "
        "and {} elements respectively",
        list.size(), keys.size()));
  }
  if (list.empty()) return Value::OfList({});
  if (!IsOrdered(keys.front().kind())) return Value::Error("list elements must be comparable");
  const auto same_kind = [&](const Value& key) { return key.kind() == keys.front().kind(); };
  if (!std::all_of(keys.begin(), keys.end(), same_kind)) {
    return Value::Error("list elements must have the same type");
  }
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t left, std::size_t right) { return KeyLess()(keys[left], keys[right]); });
  List sorted;
  sorted.reserve(list.size());
  for (const std::size_t index : order) sorted.push_back(list[index]);
  return Value::OfList(std::move(sorted));
}

Value Sort(Arguments arguments) {
  if (arguments[0].kind() != Kind::kList) return RefuseReceiver(arguments[0], "sort");
  return SortByKeys(arguments[0].list(), arguments[0].list());
}

Value SortByAssociatedKeys(Arguments arguments) {
  if (arguments[0].kind() != Kind::kList) return RefuseReceiver(arguments[0], "@sortByAssociatedKeys");
  if (arguments[1].kind() != Kind::kList) return Value::NoSuchOverload();
  return SortByKeys(arguments[0].list(), arguments[1].list());
}

Value Range(Arguments arguments) {
  const std::int64_t size = arguments[0].integer();
  if (size < 0) return Value::Error(fmt::format("lists.range: size must be non-negative, got {}", size));
  if (size > kRangeMax) {
    return Value::Error(fmt::format("lists.range: size {} exceeds maximum allowed ({})", size, kRangeMax));
  }
  List range;
  range.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) range.push_back(Value::Int(i));
  return Value::OfList(std::move(range));
}

Value Reverse(Arguments arguments) {
  const List& list = arguments[0].list();
  return Value::OfList(List(list.rbegin(), list.rend()));
}

Value Distinct(Arguments arguments) {
  List distinct;
  for (const Value& item : arguments[0].list()) {
    const auto equal = [&item](const Value& other) { return IsEqual(item, other); };
    if (std::none_of(distinct.begin(), distinct.end(), equal)) distinct.push_back(item);
  }
  return Value::OfList(std::move(distinct));
}

Value IsSorted(Arguments arguments) {
  const List& list = arguments[0].list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!IsOrdered(list[i].kind())) return Value::NoSuchOverload();
    if (i == 0) continue;
    const Value order = Compare(list[i - 1], list[i]);
    if (!order.is_error() && order.integer() > 0) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// The sum as + would make it, from the zero of the element type.
Value SumFrom(Value sum, const List& list) {
  static const Function* const kAdd = Registry::Get().Find("_+_");
  for (const Value& item : list) {
    std::array<Value, 2> operands = {std::move(sum), item};
    sum = kAdd->any(operands);
    if (sum.is_error()) return sum;
  }
  return sum;
}

Value SumInts(Arguments arguments) { return SumFrom(Value::Int(0), arguments[0].list()); }
Value SumUints(Arguments arguments) { return SumFrom(Value::Uint(0), arguments[0].list()); }
Value SumDoubles(Arguments arguments) { return SumFrom(Value::Double(0), arguments[0].list()); }
Value SumDurations(Arguments arguments) { return SumFrom(Value::Duration(0), arguments[0].list()); }

// wanted: the order of the best so far against a better one.
Value Extreme(const List& list, std::string_view function, std::int64_t wanted) {
  if (list.empty()) return Value::Error(fmt::format("{} called on empty list", function));
  const Value* best = nullptr;
  for (const Value& item : list) {
    if (!IsOrdered(item.kind())) return Value::NoSuchOverload();
    if (best == nullptr) {
      best = &item;
      continue;
    }
    const Value order = Compare(*best, item);
    if (!order.is_error() && order.integer() == wanted) best = &item;
  }
  return *best;
}

Value Min(Arguments arguments) { return Extreme(arguments[0].list(), "min", 1); }
Value Max(Arguments arguments) { return Extreme(arguments[0].list(), "max", -1); }

Value IndexOf(Arguments arguments) {
  const List& list = arguments[0].list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (IsEqual(list[i], arguments[1])) return Value::Int(static_cast<std::int64_t>(i));
  }
  return Value::Int(-1);
}

Value LastIndexOf(Arguments arguments) {
  const List& list = arguments[0].list();
  for (std::size_t i = list.size(); i > 0; --i) {
    if (IsEqual(list[i - 1], arguments[1])) return Value::Int(static_cast<std::int64_t>(i - 1));
  }
  return Value::Int(-1);
}

Value Includes(Arguments arguments) {
  if (arguments[0].kind() != Kind::kList) return Value::Bool(IsEqual(arguments[0], arguments[1]));
  const List& list = arguments[0].list();
  return Value::Bool(
      std::any_of(list.begin(), list.end(), [&](const Value& item) { return IsEqual(item, arguments[1]); }));
}

bool Contains(const List& list, const Value& item) {
  return std::any_of(list.begin(), list.end(), [&](const Value& other) { return IsEqual(item, other); });
}

bool ContainsAll(const List& list, const List& items) {
  return std::all_of(items.begin(), items.end(), [&](const Value& item) { return Contains(list, item); });
}

Value SetsContains(Arguments arguments) {
  return Value::Bool(ContainsAll(arguments[0].list(), arguments[1].list()));
}
Value SetsEquivalent(Arguments arguments) {
  return Value::Bool(ContainsAll(arguments[0].list(), arguments[1].list()) &&
                     ContainsAll(arguments[1].list(), arguments[0].list()));
}
Value SetsIntersects(Arguments arguments) {
  const List& list = arguments[0].list();
  return Value::Bool(std::any_of(list.begin(), list.end(),
                                 [&](const Value& item) { return Contains(arguments[1].list(), item); }));
}

Value Insert(Value& map, Value key, Value value) {
  if (map.map().Find(key) != nullptr) {
    return Value::Error(fmt::format("insert failed: key {} already exists", KeyText(key)));
  }
  if (Map* own = map.UniqueMap()) {
    own->entries.emplace(std::move(key), std::move(value));
    return std::move(map);
  }
  Map copy = map.map();
  copy.entries.emplace(std::move(key), std::move(value));
  return Value::OfMap(std::move(copy));
}

Value InsertKeyValue(Arguments arguments) {
  return Insert(arguments[0], std::move(arguments[1]), std::move(arguments[2]));
}

Value InsertMap(Arguments arguments) {
  Value map = std::move(arguments[0]);
  for (const auto& [key, value] : arguments[1].map().entries) {
    map = Insert(map, key, value);
    if (map.is_error()) break;
  }
  return map;
}

struct Comparable {
  std::string_view type;
  std::string_view id;       // in Kubernetes' overloads
  std::string_view full_id;  // in the extension's
};

constexpr std::array kComparable = {
    Comparable{"int", "int", "int"},
    Comparable{"uint", "uint", "uint"},
    Comparable{"double", "double", "double"},
    Comparable{"bool", "bool", "bool"},
    Comparable{"duration", "duration", "google.protobuf.Duration"},
    Comparable{"timestamp", "timestamp", "google.protobuf.Timestamp"},
    Comparable{"string", "string", "string"},
    Comparable{"bytes", "bytes", "bytes"},
};

void RegisterPerType(Registry& r) {
  for (const Comparable& each : kComparable) {
    const std::string list = fmt::format("list({})", each.type);
    r.Method("isSorted", fmt::format("list_{}_is_sorted_bool", each.id), fmt::format("({}) -> bool", list),
             IsSorted);
    r.Method("min", fmt::format("list_{}_min_{}", each.id, each.id),
             fmt::format("({}) -> {}", list, each.type), Min);
    r.Method("max", fmt::format("list_{}_max_{}", each.id, each.id),
             fmt::format("({}) -> {}", list, each.type), Max);
    r.Method("sort", fmt::format("list_{}_sort", each.full_id), fmt::format("({}) -> {}", list, list));
    r.Method("@sortByAssociatedKeys", fmt::format("list_{}_sortByAssociatedKeys", each.full_id),
             fmt::format("(list(T), {}) -> list(T)", list));
  }
  r.Any("sort", Sort);
  r.Any("@sortByAssociatedKeys", SortByAssociatedKeys);
}

}  // namespace

void RegisterLists(Registry& r) {
  RegisterPerType(r);
  r.Method("slice", "list_slice", "(list(T), int, int) -> list(T)", Slice);
  r.Method("flatten", "list_flatten", "(list(list(T))) -> list(T)");
  r.Method("flatten", "list_flatten_int", "(list(dyn), int) -> list(dyn)");
  r.Any("flatten", FlattenAny);
  r.Global("lists.range", "lists_range", "(int) -> list(int)", Range);
  r.Method("reverse", "list_reverse", "(list(T)) -> list(T)", Reverse);
  r.Method("distinct", "list_distinct", "(list(T)) -> list(T)", Distinct);
  r.Method("sum", "list_int_sum_int", "(list(int)) -> int", SumInts);
  r.Method("sum", "list_uint_sum_uint", "(list(uint)) -> uint", SumUints);
  r.Method("sum", "list_double_sum_double", "(list(double)) -> double", SumDoubles);
  r.Method("sum", "list_duration_sum_duration", "(list(duration)) -> duration", SumDurations);
  r.Method("indexOf", "list_a_index_of_int", "(list(A), A) -> int", IndexOf);
  r.Method("lastIndexOf", "list_a_last_index_of_int", "(list(A), A) -> int", LastIndexOf);
  r.Method("includes", "list_includes_dyn_dyn", "(dyn, dyn) -> bool", Includes);
  r.Global("sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", SetsContains);
  r.Global("sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) -> bool", SetsEquivalent);
  r.Global("sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", SetsIntersects);
  r.Global("cel.@mapInsert", "@mapInsert_map_key_value", "(map(K, V), K, V) -> map(K, V)", InsertKeyValue);
  r.Global("cel.@mapInsert", "@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", InsertMap);
}

}  // namespace berth::cel
