#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::sandbox {

// A path element in its FieldsV1 form as users read it: `.spec`, `[name="c"]`, `[="x"]`.
std::string ReadableElement(std::string_view element);

// A set of places in an object, as metadata.managedFields lists them: a tree whose edges are path elements in
// their FieldsV1 form (`f:spec`, `k:{"name":"c"}`, `v:"x"`). A node is in the set, or leads to some that are,
// or both.
class FieldSet {
 public:
  static FieldSet FromJson(const boost::json::object& fields_v1);
  boost::json::object ToJson() const;

  bool empty() const { return !is_member_ && children_.empty(); }
  bool is_member() const { return is_member_; }
  void Insert() { is_member_ = true; }
  // The place below, made if it is not there. An element that stays empty is no part of the set: see Prune().
  FieldSet& Below(std::string_view element) { return children_[std::string(element)]; }
  const FieldSet* Find(std::string_view element) const;
  const std::map<std::string, FieldSet, std::less<>>& children() const { return children_; }
  void Prune();

  // Both have it.
  FieldSet Intersect(const FieldSet& other) const;
  void Add(const FieldSet& other);
  void Remove(const FieldSet& other);
  // Together with everything below what the other has.
  void RemoveBelow(const FieldSet& other);

  bool operator==(const FieldSet&) const = default;

  // Every member as users read it: `.spec.containers[name="c"].image`.
  std::vector<std::string> Paths() const;

 private:
  void AppendPaths(const std::string& prefix, std::vector<std::string>& paths) const;

  bool is_member_ = false;
  std::map<std::string, FieldSet, std::less<>> children_;
};

}  // namespace berth::sandbox
