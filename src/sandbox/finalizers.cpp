#include "sandbox/finalizers.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

template <class Array>
auto FindName(Array& finalizers, std::string_view name) {
  auto it = finalizers.begin();
  while (it != finalizers.end() && !(it->is_string() && ViewOf(it->get_string()) == name)) ++it;
  return it;
}

}  // namespace

bool HasFinalizer(const json::object& document, std::string_view name) {
  const json::array* finalizers = FindArray(document, {"metadata", "finalizers"});
  return finalizers != nullptr && FindName(*finalizers, name) != finalizers->end();
}

bool DropFinalizer(json::object& document, std::string_view name) {
  json::array* finalizers = FindArray(document, {"metadata", "finalizers"});
  if (finalizers == nullptr) return false;
  const auto it = FindName(*finalizers, name);
  if (it == finalizers->end()) return false;
  finalizers->erase(it);
  if (finalizers->empty()) RemoveAt(document, {"metadata", "finalizers"});
  return true;
}

void AddFinalizer(json::object& document, std::string_view name) {
  if (!HasFinalizer(document, name))
    ArrayAt(document, {"metadata", "finalizers"}).push_back(json::string(name));
}

}  // namespace berth::sandbox
