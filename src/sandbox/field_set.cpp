#include "sandbox/field_set.h"

#include <boost/json.hpp>

#include "wire/json_document.h"

namespace berth::sandbox {
namespace json = boost::json;

std::string ReadableElement(std::string_view element) {
  const std::string_view rest = element.substr(2);
  if (element.starts_with("f:")) return "." + std::string(rest);
  if (element.starts_with("v:")) return "[=" + std::string(rest) + "]";
  if (!element.starts_with("k:")) return "[" + std::string(rest) + "]";
  std::string text = "[";
  const base::Result<json::value> keys = wire::ParseJson(rest);
  if (keys && keys->is_object()) {
    for (const json::key_value_pair& key : keys->get_object()) {
      if (text.size() > 1) text += ',';
      text.append(key.key()).append("=").append(json::serialize(key.value()));
    }
  }
  return text + "]";
}

FieldSet FieldSet::FromJson(const json::object& fields_v1) {
  FieldSet set;
  for (const json::key_value_pair& member : fields_v1) {
    const std::string_view element(member.key().data(), member.key().size());
    if (element == ".") {
      set.is_member_ = true;
      continue;
    }
    if (element.size() < 2 || element[1] != ':') continue;
    FieldSet below = member.value().is_object() ? FromJson(member.value().get_object()) : FieldSet();
    // A leaf is written as an empty object.
    if (below.empty()) below.is_member_ = true;
    set.children_.insert_or_assign(std::string(element), std::move(below));
  }
  return set;
}

json::object FieldSet::ToJson() const {
  json::object object;
  if (is_member_ && !children_.empty()) object["."] = json::object();
  for (const auto& [element, below] : children_) object[element] = below.ToJson();
  return object;
}

const FieldSet* FieldSet::Find(std::string_view element) const {
  const auto it = children_.find(element);
  return it != children_.end() ? &it->second : nullptr;
}

void FieldSet::Prune() {
  for (auto it = children_.begin(); it != children_.end();) {
    it->second.Prune();
    it = it->second.empty() ? children_.erase(it) : std::next(it);
  }
}

FieldSet FieldSet::Intersect(const FieldSet& other) const {
  FieldSet both;
  both.is_member_ = is_member_ && other.is_member_;
  for (const auto& [element, below] : children_) {
    const FieldSet* there = other.Find(element);
    if (there == nullptr) continue;
    FieldSet common = below.Intersect(*there);
    if (!common.empty()) both.children_.emplace(element, std::move(common));
  }
  return both;
}

void FieldSet::Add(const FieldSet& other) {
  is_member_ = is_member_ || other.is_member_;
  for (const auto& [element, below] : other.children_) children_[element].Add(below);
}

void FieldSet::Remove(const FieldSet& other) {
  if (other.is_member_) is_member_ = false;
  for (const auto& [element, below] : other.children_) {
    const auto it = children_.find(element);
    if (it == children_.end()) continue;
    it->second.Remove(below);
    if (it->second.empty()) children_.erase(it);
  }
}

void FieldSet::RemoveBelow(const FieldSet& other) {
  if (other.is_member_) {
    is_member_ = false;
    children_.clear();
    return;
  }
  for (const auto& [element, below] : other.children_) {
    const auto it = children_.find(element);
    if (it == children_.end()) continue;
    it->second.RemoveBelow(below);
    if (it->second.empty()) children_.erase(it);
  }
}

std::vector<std::string> FieldSet::Paths() const {
  std::vector<std::string> paths;
  AppendPaths("", paths);
  return paths;
}

void FieldSet::AppendPaths(const std::string& prefix, std::vector<std::string>& paths) const {
  if (is_member_) paths.push_back(prefix);
  for (const auto& [element, below] : children_) below.AppendPaths(prefix + ReadableElement(element), paths);
}

}  // namespace berth::sandbox
