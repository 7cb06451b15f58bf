#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/time.h"
#include "api/wall_time.h"
#include "sandbox/document.h"
#include "sandbox/go_json.h"
#include "sandbox/object_writer.h"
#include "sandbox/representation.h"
#include "sandbox/uid.h"
#include "sandbox/validation.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kGeneratedBaseMax = 58;
constexpr int kGenerateTries = 8;
constexpr std::string_view kSuffixLetters = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

StatusError Undecodable(const Resource& served, const json::object& document, std::string_view why) {
  std::string problem = JsonTypeProblem(*served.storage->message, document);
  // Types with decoders of their own say what is wrong and not where.
  constexpr std::string_view kQuantity = "quantities must match";
  if (const std::size_t at = why.find(kQuantity); problem.empty() && at != std::string_view::npos) {
    problem = why.substr(at);
  }
  if (problem.empty()) problem = why;
  return BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", served.kind,
                                served.version, served.kind, problem));
}

void ObjectWriter::ForEach(const Resource& resource,
                           const std::function<void(const RevisionPtr&)>& visit) const {
  const auto page = store_.List(Selection(resource));
  for (const RevisionPtr& object : page->items) visit(object);
}

ApiResult<RevisionPtr> ObjectWriter::Get(const Target& target) const {
  RevisionPtr object = store_.Find(*target.resource, target.namespace_name, target.name);
  if (object == nullptr) return Refuse(NotFound(*target.resource, target.name));
  return object;
}

std::string ObjectWriter::TimeText(base::Duration from_now) const {
  return api::FormatTime(api::TimeOf(clock_.WallNow() + from_now));
}

ApiResult<void> ObjectWriter::CheckNamespace(const Target& target) const {
  if (!target.resource->namespaced) return {};
  static const Resource& namespaces = ResourceOf("v1", "Namespace");
  const RevisionPtr found = store_.Find(namespaces, "", target.namespace_name);
  if (found == nullptr) return Refuse(NotFound(namespaces, target.namespace_name));
  if (found->field(0) == "Terminating") {
    StatusError error = Forbidden(*target.resource, target.name,
                                  fmt::format("unable to create new content in namespace {} because it is "
                                              "being terminated",
                                              target.namespace_name));
    error.causes.push_back({"NamespaceTerminating",
                            fmt::format("namespace {} is being terminated", target.namespace_name),
                            "metadata.namespace"});
    return Refuse(std::move(error));
  }
  return {};
}

// Checks that the name is free, or makes one up from generateName.
ApiResult<void> ObjectWriter::NameIt(const Target& target, json::object& document) {
  json::object& metadata = ObjectAt(document, {"metadata"});
  const std::string name(TextAt(metadata, {"name"}));
  const std::string base(TextAt(metadata, {"generateName"}));
  if (!name.empty() || base.empty()) {
    if (store_.Find(*target.resource, target.namespace_name, name) != nullptr) {
      return Refuse(AlreadyExists(*target.resource, name));
    }
    return {};
  }
  for (int attempt = 0; attempt < kGenerateTries; ++attempt) {
    std::string made = base.substr(0, kGeneratedBaseMax);
    for (int i = 0; i < 5; ++i) made += kSuffixLetters[random_.Uniform(kSuffixLetters.size())];
    metadata["name"] = made;
    if (store_.Find(*target.resource, target.namespace_name, made) == nullptr) return {};
  }
  return Refuse(NameNotGenerated(*target.resource, TextAt(metadata, {"name"})));
}

ApiResult<RevisionPtr> ObjectWriter::Create(const Target& target, json::object document, bool dry_run) {
  const Resource& served = *target.resource;
  const Resource& stored = *served.storage;
  json::object& given = ObjectAt(document, {"metadata"});
  // Upstream's storage refuses it. A dry run does not get as far, and answers it back.
  if (!dry_run && !TextAt(given, {"resourceVersion"}).empty()) {
    return Refuse(InternalError("resourceVersion should not be set on objects to be created"));
  }
  const std::string_view namespace_given = TextAt(given, {"namespace"});
  if (!namespace_given.empty() && namespace_given != target.namespace_name) {
    return Refuse(
        BadRequest("the namespace of the provided object does not match the namespace sent on the request"));
  }
  const ApiResult<void> has_namespace = CheckNamespace(target);
  if (!has_namespace) return Refuse(has_namespace.error());

  const json::object form = StoredForm(served, std::move(document));
  base::Result<json::object> normal = Normalize(stored, form);
  if (!normal) return Refuse(Undecodable(served, form, normal.error().message));
  document = std::move(*normal);
  json::object& metadata = ObjectAt(document, {"metadata"});
  for (const std::string_view key :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"}) {
    metadata.erase(key);
  }
  if (!target.manager.applies) metadata.erase("managedFields");
  if (served.namespaced) metadata["namespace"] = target.namespace_name;
  metadata["uid"] = NewUid(random_);
  metadata["creationTimestamp"] = TimeText();
  ApiResult<void> good = NameIt(target, document);
  if (!good) return Refuse(std::move(good.error()));

  ApplyDefaults(stored, document);
  good = AdmitCreate(stored, document, context());
  if (!good) return Refuse(std::move(good.error()));
  const FieldErrorList errors = ValidateCreate(stored, document);
  if (!errors.empty()) return Refuse(Invalid(served, TextAt(document, {"metadata", "name"}), errors));

  if (target.manager.is_noted_at_creation && !target.manager.applies) NoteManagers(target, document, nullptr);
  base::Result<RevisionPtr> made =
      dry_run ? Revision::Make(stored, document) : store_.Create(stored, document);
  if (!made) return Refuse(InternalError(made.error().message));
  return std::move(*made);
}

}  // namespace berth::sandbox
