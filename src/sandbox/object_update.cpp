#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/go_text.h"
#include "sandbox/admission_pod.h"
#include "sandbox/document.h"
#include "sandbox/managed_fields.h"
#include "sandbox/object_names.h"
#include "sandbox/object_writer.h"
#include "sandbox/representation.h"
#include "sandbox/validation.h"
#include "sandbox/validation_pod.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// Under this name the sandbox's own controllers and nodes write.
constexpr std::string_view kOwnManager = "berth-sandbox";

// What clients send back but cannot change.
void KeepServerMetadata(json::object& document, const json::object& old) {
  json::object& metadata = ObjectAt(document, {"metadata"});
  for (const std::string_view key :
       {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
        "selfLink", "generateName"}) {
    const json::value* kept = FindValue(old, {"metadata", key});
    if (kept != nullptr) {
      metadata[key] = *kept;
    } else {
      metadata.erase(key);
    }
  }
}

bool IsReleased(const json::object& document) {
  const json::array* finalizers = FindArray(document, {"metadata", "finalizers"});
  // A namespace is held by its spec too, as long as there is something in it.
  const json::array* content = FindArray(document, {"spec", "finalizers"});
  if (content != nullptr && !content->empty()) return false;
  return FindValue(document, {"metadata", "deletionTimestamp"}) != nullptr &&
         NumberAt(document, {"metadata", "deletionGracePeriodSeconds"}) == 0 &&
         (finalizers == nullptr || finalizers->empty());
}

ApiResult<void> CheckNames(const Target& target, const json::object& document) {
  const ApiResult<void> named = CheckName(target, document);
  if (!named) return named;
  const std::string_view given = TextAt(document, {"metadata", "namespace"});
  if (!given.empty() && given != target.namespace_name) {
    return Refuse(BadRequest(
        fmt::format("the namespace of the object ({}) does not match the namespace on the request ({})",
                    given, target.namespace_name)));
  }
  return {};
}

}  // namespace

ApiResult<void> CheckName(const Target& target, const json::object& document) {
  const std::string_view name = TextAt(document, {"metadata", "name"});
  if (!name.empty() && name != target.name) {
    return Refuse(BadRequest(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, target.name)));
  }
  return {};
}

ApiResult<RevisionPtr> ObjectWriter::Update(const Target& target, json::object document, bool dry_run) {
  const ApiResult<void> named = CheckNames(target, document);
  if (!named) return Refuse(named.error());
  const ApiResult<RevisionPtr> found = Get(target);
  if (!found) return found;
  const std::string_view uid = TextAt(document, {"metadata", "uid"});
  if (!uid.empty() && uid != (*found)->uid()) {
    return Refuse(Conflict(*target.resource, "", target.name,
                           fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                       uid, (*found)->uid())));
  }
  return Change(target, [&](const json::object&) { return document; }, dry_run);
}

ApiResult<RevisionPtr> ObjectWriter::Change(const Target& target, const Changer& change, bool dry_run) {
  ApiResult<RevisionPtr> found = Get(target);
  if (!found) return found;
  const RevisionPtr current = *found;
  ApiResult<json::object> changed = change(ServedDocument(*target.resource, *current));
  if (!changed) return Refuse(std::move(changed.error()));
  const ApiResult<void> named = CheckNames(target, *changed);
  if (!named) return Refuse(named.error());
  const std::string_view uid = TextAt(*changed, {"metadata", "uid"});
  if (!uid.empty() && uid != current->uid()) {
    const FieldError error{FieldErrorType::kInvalid, "metadata.uid", base::QuoteGo(uid),
                           "field is immutable"};
    return Refuse(Invalid(*target.resource, target.name, {&error, 1}));
  }
  const std::string_view version = TextAt(*changed, {"metadata", "resourceVersion"});
  if (version.empty() && !target.resource->unconditional_update) {
    const FieldError error{FieldErrorType::kInvalid, "metadata.resourceVersion", "0",
                           "must be specified for an update"};
    return Refuse(Invalid(*target.resource, target.name, {&error, 1}));
  }
  if (!version.empty() && version != "0" && ParseVersion(version) != current->version()) {
    return Refuse(ModifiedMeanwhile(*target.resource, target.name));
  }
  const json::object form = StoredForm(*target.resource, std::move(*changed));
  base::Result<json::object> normal = Normalize(current->resource(), form);
  if (!normal) return Refuse(Undecodable(*target.resource, form, normal.error().message));
  json::object& metadata = ObjectAt(*normal, {"metadata"});
  metadata["name"] = target.name;
  if (target.resource->namespaced) metadata["namespace"] = target.namespace_name;
  return StoreUpdate(target, current, std::move(*normal), current->Document(), dry_run);
}

void ObjectWriter::NoteManagers(const Target& target, json::object& document, const json::object* old) const {
  if (old != nullptr) {
    // What a client sends back does not count. An object that nobody keeps account of stays without.
    const json::array* known = FindArray(*old, {"metadata", "managedFields"});
    const json::array* given = FindArray(document, {"metadata", "managedFields"});
    const bool is_reset = given != nullptr && given->size() == 1 && given->front() == json::object();
    if (known == nullptr || known->empty() || is_reset) {
      RemoveAt(document, {"metadata", "managedFields"});
      return;
    }
  }
  const std::string now = TimeText();
  TrackWrite(*target.resource->storage, document, old,
             {.manager = target.manager.name.empty() ? kOwnManager : std::string_view(target.manager.name),
              .subresource = target.subresource,
              .now = now});
}

ApiResult<RevisionPtr> ObjectWriter::StoreUpdate(const Target& target, const RevisionPtr& current,
                                                 json::object document, const json::object& old,
                                                 bool dry_run) {
  const Resource& stored = current->resource();
  KeepServerMetadata(document, old);
  const bool is_namespace = stored.group.empty() && stored.kind == "Namespace";
  if (is_namespace && target.subresource != "finalize") {
    if (const json::value* spec = old.if_contains("spec")) document["spec"] = *spec;
  }
  const bool is_status = target.subresource == "status";
  if (!is_status) ApplyDefaults(stored, document);
  const ApiResult<void> admitted = is_status ? AdmitStatusUpdate(stored, document, old, context())
                                             : AdmitUpdate(stored, document, old, context());
  if (!admitted) return Refuse(admitted.error());
  if (!target.manager.applies) NoteManagers(target, document, &old);
  const FieldErrorList errors = target.subresource == "resize" ? ValidatePodResize(document, old)
                                : is_status                    ? ValidateStatusUpdate(stored, document, old)
                                                               : ValidateUpdate(stored, document, old);
  if (!errors.empty()) return Refuse(Invalid(*target.resource, target.name, errors));
  if (target.subresource == "resize") {
    const ApiResult<void> fits = CheckResizeFits(document, old, context());
    if (!fits) return Refuse(fits.error());
  }

  if (dry_run) {
    base::Result<RevisionPtr> made = Revision::Make(stored, document);
    if (!made) return Refuse(BadRequest(made.error().message));
    return std::move(*made);
  }
  base::Result<RevisionPtr> made = store_.Replace(current, document);
  if (!made) return Refuse(BadRequest(made.error().message));
  // The last finalizer of a terminating object is gone, and with it the object.
  if (*made != current && IsReleased(document)) return store_.Remove(*made);
  return std::move(*made);
}

}  // namespace berth::sandbox
