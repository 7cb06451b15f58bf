#include "sandbox/controllers/workload.h"

#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/label_query.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// kube-controller-manager's alphabet: no vowels, and no digits that look like letters.
constexpr std::string_view kSafeLetters = "bcdfghjklmnpqrstvwxz2456789";

std::uint32_t Fnv32a(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return hash;
}

api::Selector PlainSelector(const json::object* labels) {
  if (labels == nullptr || labels->empty()) return api::Selector::Nothing();
  api::StringMap map;
  for (const json::key_value_pair& label : *labels) {
    const json::string* value = label.value().if_string();
    map.insert_or_assign(std::string(label.key()), value != nullptr ? std::string(ViewOf(*value)) : "");
  }
  return api::Selector::FromMap(map);
}

}  // namespace

api::Selector SelectorOf(const Resource& resource, const json::object& workload) {
  const json::object* selector = FindObject(workload, {"spec", "selector"});
  if (resource.kind == "ReplicationController" || resource.kind == "Service") return PlainSelector(selector);
  base::Result<api::Selector> compiled = SelectorFrom(selector);
  return compiled ? std::move(*compiled) : api::Selector::Nothing();
}

json::object ControllerReference(const Revision& owner) {
  json::object reference;
  reference["apiVersion"] = owner.resource().api_version;
  reference["kind"] = owner.resource().kind;
  reference["name"] = owner.name();
  reference["uid"] = owner.uid();
  reference["controller"] = true;
  reference["blockOwnerDeletion"] = true;
  return reference;
}

void SetController(json::object& document, const Revision& owner) {
  ArrayAt(document, {"metadata", "ownerReferences"}).push_back(ControllerReference(owner));
}

json::object PodFromTemplate(const json::object& workload, const Revision& owner) {
  json::object pod;
  const json::object* pattern = FindObject(workload, {"spec", "template"});
  if (pattern == nullptr) return pod;
  if (const json::object* spec = FindObject(*pattern, {"spec"})) pod["spec"] = *spec;
  for (const std::string_view key : {"labels", "annotations", "finalizers"}) {
    if (const json::value* value = FindValue(*pattern, {"metadata", key})) {
      ObjectAt(pod, {"metadata"})[key] = *value;
    }
  }
  SetController(pod, owner);
  return pod;
}

std::int64_t CountOf(const Share& share) {
  if (share.value == nullptr) return share.fallback;
  if (const std::int64_t* number = share.value->if_int64()) return *number;
  const json::string* text = share.value->if_string();
  if (text == nullptr || !text->ends_with('%')) return share.fallback;
  std::int64_t percent = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size() - 1, percent);
  if (error != std::errc() || end != text->data() + text->size() - 1) return share.fallback;
  const std::int64_t hundredths = share.total * percent;
  return share.round_up ? (hundredths + 99) / 100 : hundredths / 100;
}

std::string HashName(const json::object& document, std::int64_t collisions) {
  std::string text = wire::WriteJson(document);
  if (collisions > 0) text += std::to_string(collisions);
  std::string name = std::to_string(Fnv32a(text));
  for (char& c : name) c = kSafeLetters[static_cast<std::size_t>(c) % kSafeLetters.size()];
  return name;
}

ApiResult<RevisionPtr> ChangeStatus(ObjectWriter& writer, const Revision& object,
                                    const std::function<void(json::object& document)>& change) {
  return writer.Change(TargetOf(object, "status"),
                       [&](const json::object& current) -> ApiResult<json::object> {
                         json::object changed = current;
                         change(changed);
                         return changed;
                       });
}

ApiResult<RevisionPtr> ChangeObject(ObjectWriter& writer, const Revision& object,
                                    const std::function<void(json::object& document)>& change) {
  return writer.Change(TargetOf(object), [&](const json::object& current) -> ApiResult<json::object> {
    json::object changed = current;
    change(changed);
    return changed;
  });
}

void Adopt(ObjectWriter& writer, const Revision& orphan, const Revision& owner) {
  static_cast<void>(
      ChangeObject(writer, orphan, [&](json::object& document) { SetController(document, owner); }));
}

void AdoptPods(const ControllerContext& context, const Revision& owner, const api::Selector& selector) {
  if (selector.matches_everything()) return;
  const ApiResult<Selection> nearby =
      Selection::Make(ResourceOf("v1", "Pod"), {.namespace_name = owner.namespace_name()});
  const std::expected<Store::Page, TooOld> page = context.plane.store().List(*nearby);
  for (const RevisionPtr& pod : page->items) {
    if (!pod->controller_uid().empty() || !selector.Matches(pod->labels())) continue;
    if (WatchedPod(pod).is_active()) Adopt(context.plane.writer(), *pod, owner);
  }
}

void Release(ObjectWriter& writer, const Revision& object, std::string_view owner_uid) {
  static_cast<void>(ChangeObject(writer, object, [&](json::object& document) {
    json::array& owners = ArrayAt(document, {"metadata", "ownerReferences"});
    for (auto it = owners.begin(); it != owners.end();) {
      const bool is_owner = it->is_object() && TextAt(it->get_object(), {"uid"}) == owner_uid;
      it = is_owner ? owners.erase(it) : it + 1;
    }
  }));
}

void SelectorRoster::Set(const Revision& workload, const json::object& document) {
  selectors_[std::string(workload.namespace_name())].insert_or_assign(
      workload.key(), SelectorOf(workload.resource(), document));
}

void SelectorRoster::Remove(const Revision& workload) {
  const auto it = selectors_.find(workload.namespace_name());
  if (it == selectors_.end()) return;
  it->second.erase(workload.key());
  if (it->second.empty()) selectors_.erase(it);
}

std::vector<std::string> SelectorRoster::Matching(const Revision& object) const {
  std::vector<std::string> keys;
  const auto it = selectors_.find(object.namespace_name());
  if (it == selectors_.end()) return keys;
  for (const auto& [key, selector] : it->second) {
    // A selector without requirements would take in everything: no workload may have one.
    if (!selector.matches_everything() && selector.Matches(object.labels())) keys.push_back(key);
  }
  return keys;
}

}  // namespace berth::sandbox
