#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/api_server.h"
#include "sandbox/body.h"
#include "sandbox/document.h"
#include "sandbox/object_names.h"
#include "sandbox/reviews.h"
#include "sandbox/validation.h"

// POST, PUT, PATCH and DELETE.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

ExpectedKind KindOf(const Resource& resource) { return {resource.api_version, resource.kind}; }

}  // namespace

// A whole object that is to be written, and how.
struct ApiServer::Submission {
  Target target;
  json::object document;
  bool dry_run = false;
};

ApiResult<ApiServer::Submission> ApiServer::Read(Call& call) {
  const ApiResult<FieldValidation> validation = FieldValidationOf(call.route);
  if (!validation) return Refuse(validation.error());
  const ApiResult<bool> dry_run = DryRunOf(call.route);
  if (!dry_run) return Refuse(dry_run.error());
  Target target = call.route.target;
  ApiResult<json::object> document =
      DecodeBody(call.request, KindOf(*target.resource), *validation, call.warnings);
  if (!document) return Refuse(std::move(document.error()));
  target.manager = ManagerOf(call.request, call.route);
  return Submission{.target = std::move(target), .document = std::move(*document), .dry_run = *dry_run};
}

ApiResult<Answer> ApiServer::Create(Call& call) {
  const Target& target = call.route.target;
  if (target.subresource == "binding") return CreateBinding(call, target.name);
  if (target.subresource == "eviction") return CreateEviction(call);
  if (target.resource->kind == "Binding") return CreateBinding(call, "");
  if (target.resource->create_only) return CreateReview(call);
  ApiResult<Submission> submission = Read(call);
  if (!submission) return Refuse(std::move(submission.error()));
  const ApiResult<RevisionPtr> created =
      writer_.Create(submission->target, std::move(submission->document), submission->dry_run);
  if (!created) return Refuse(created.error());
  return Show(call, 201, *created);
}

// `name` is empty for the older form, where only the body says which pod it is.
ApiResult<Answer> ApiServer::CreateBinding(Call& call, std::string name) {
  const ApiResult<bool> dry_run = DryRunOf(call.route);
  if (!dry_run) return Refuse(dry_run.error());
  const ApiResult<json::object> binding =
      DecodeBody(call.request, {"v1", "Binding"}, FieldValidation::kIgnore, call.warnings);
  if (!binding) return Refuse(binding.error());
  static const Resource& pods = ResourceOf("v1", "Pod");
  Target target{
      .resource = &pods, .namespace_name = call.route.target.namespace_name, .name = std::move(name)};
  if (target.name.empty()) target.name = TextAt(*binding, {"metadata", "name"});
  const ApiResult<void> bound = writer_.Bind(target, *binding, *dry_run);
  if (!bound) return Refuse(bound.error());
  return DocumentAnswer(201, SuccessStatus(201), call.form.media);
}

ApiResult<Answer> ApiServer::CreateEviction(Call& call) {
  const ApiResult<bool> dry_run = DryRunOf(call.route);
  if (!dry_run) return Refuse(dry_run.error());
  const ApiResult<json::object> eviction =
      DecodeBody(call.request, {"policy/v1", "Eviction"}, FieldValidation::kIgnore, call.warnings);
  if (!eviction) return Refuse(eviction.error());
  const std::string_view name = TextAt(*eviction, {"metadata", "name"});
  if (!name.empty() && name != call.route.target.name) {
    return Refuse(BadRequest("name in URL does not match name in Eviction object"));
  }
  DeleteWish wish;
  wish.grace_seconds = FindNumber(*eviction, {"deleteOptions", "gracePeriodSeconds"});
  wish.dry_run = *dry_run;
  const ApiResult<Removal> evicted = writer_.Evict(call.route.target, wish);
  if (!evicted) return Refuse(evicted.error());
  return DocumentAnswer(201, SuccessStatus(201), call.form.media);
}

ApiResult<Answer> ApiServer::CreateReview(Call& call) {
  const Resource& resource = *call.route.target.resource;
  ApiResult<json::object> review =
      DecodeBody(call.request, KindOf(resource), FieldValidation::kIgnore, call.warnings);
  if (!review) return Refuse(std::move(review.error()));
  AnswerReview(resource, *review, {.users = options_.users, .user = call.user});
  base::Result<json::object> normal = Normalize(resource, *review);
  if (!normal) return Refuse(BadRequest(normal.error().message));
  return DocumentAnswer(201, *normal, call.form.media);
}

ApiResult<Answer> ApiServer::Update(Call& call) {
  const Target& target = call.route.target;
  if (target.subresource == "ephemeralcontainers")
    return Refuse(MethodNotSupported(*target.resource, "update"));
  ApiResult<Submission> submission = Read(call);
  if (!submission) return Refuse(std::move(submission.error()));
  const ApiResult<RevisionPtr> updated =
      writer_.Update(submission->target, std::move(submission->document), submission->dry_run);
  if (!updated) return Refuse(updated.error());
  return Show(call, 200, *updated);
}

ApiResult<Answer> ApiServer::Patch(Call& call) {
  const Target& target = call.route.target;
  if (target.subresource == "ephemeralcontainers")
    return Refuse(MethodNotSupported(*target.resource, "patch"));
  const ApiResult<bool> dry_run = DryRunOf(call.route);
  if (!dry_run) return Refuse(dry_run.error());
  const std::string* type_header = call.request.headers.Find("Content-Type");
  const std::optional<PatchType> type =
      type_header != nullptr ? PatchTypeOf(BareType(*type_header)) : std::nullopt;
  if (!type) return Refuse(UnsupportedPatchType());
  const bool force = call.route.flag("force");
  if (force && *type != PatchType::kApply) {
    const FieldError error{FieldErrorType::kForbidden, "force", "",
                           "may not be specified for non-apply patch"};
    return Refuse(Invalid("meta.k8s.io", "PatchOptions", "", {&error, 1}));
  }
  const std::string now = writer_.TimeText();
  const PatchRequest patch{.type = *type,
                           .body = call.request.body,
                           .field_manager = call.route.parameter("fieldManager"),
                           .force = force,
                           .subresource = target.subresource,
                           .now = now};
  return PatchOrCreate(call, patch, *dry_run);
}

// Server-side apply creates what is not there; every other patch needs something to change.
ApiResult<Answer> ApiServer::PatchOrCreate(Call& call, const PatchRequest& patch, bool dry_run) {
  Target target = call.route.target;
  target.manager = ManagerOf(call.request, call.route);
  target.manager.applies = patch.type == PatchType::kApply;
  const ApiResult<FieldValidation> validation = FieldValidationOf(call.route);
  if (!validation) return Refuse(validation.error());
  const auto change = [&](const json::object& current) -> ApiResult<json::object> {
    ApiResult<json::object> patched = ApplyPatch(*target.resource, patch, current);
    if (!patched) return patched;
    const ApiResult<void> known = patch.type == PatchType::kApply
                                      ? CheckRepeatedKeys(patch.body, *validation, call.warnings)
                                      : CheckFields(*target.resource, *patched, *validation, call.warnings);
    if (!known) return Refuse(known.error());
    return patched;
  };
  const bool exists = store_.Find(*target.resource, target.namespace_name, target.name) != nullptr;
  if (!exists && patch.type == PatchType::kApply && target.subresource.empty()) {
    json::object empty;
    empty["kind"] = target.resource->kind;
    empty["apiVersion"] = target.resource->api_version;
    ObjectAt(empty, {"metadata"})["name"] = target.name;
    ApiResult<json::object> applied = change(empty);
    if (!applied) return Refuse(std::move(applied.error()));
    const ApiResult<void> named = CheckName(target, *applied);
    if (!named) return Refuse(named.error());
    const ApiResult<RevisionPtr> created = writer_.Create(target, std::move(*applied), dry_run);
    if (!created) return Refuse(created.error());
    return Show(call, 201, *created);
  }
  const ApiResult<RevisionPtr> changed = writer_.Change(target, change, dry_run);
  if (!changed) return Refuse(changed.error());
  return Show(call, 200, *changed);
}

ApiResult<Answer> ApiServer::Delete(Call& call) {
  const Target& target = call.route.target;
  const ApiResult<DeleteWish> wish = DecodeDeleteOptions(call.request, call.route);
  if (!wish) return Refuse(wish.error());
  if (target.resource->kind == "Job" && wish->propagation == Propagation::kDefault) {
    call.warnings.emplace_back(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to "
        "remove them or set propagationPolicy=Orphan to suppress this warning");
  }
  const ApiResult<Removal> removed = writer_.Delete(target, *wish);
  if (!removed) return Refuse(removed.error());
  if (!removed->gone || target.resource->delete_answers_object) return Show(call, 200, removed->object);
  return DocumentAnswer(200, DeletedStatus(*target.resource, removed->object->name(), removed->object->uid()),
                        call.form.media);
}

ApiResult<Answer> ApiServer::DeleteCollection(Call& call) {
  const ApiResult<DeleteWish> wish = DecodeDeleteOptions(call.request, call.route);
  if (!wish) return Refuse(wish.error());
  const ApiResult<ListOptions> options = ParseListOptions(call.route);
  if (!options) return Refuse(options.error());
  const std::expected<Store::Page, TooOld> page = store_.List(options->selection);
  for (const RevisionPtr& object : page->items) {
    const Target target{.resource = call.route.target.resource,
                        .namespace_name = std::string(object->namespace_name()),
                        .name = std::string(object->name())};
    const ApiResult<Removal> removed = writer_.Delete(target, *wish);
    if (!removed && removed.error().code != 404) return Refuse(removed.error());
  }
  return ListAnswer(*call.route.target.resource, page->items, {.version = store_.version()}, call.form.media);
}

}  // namespace berth::sandbox
