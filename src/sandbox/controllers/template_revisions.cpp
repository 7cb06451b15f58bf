#include "sandbox/controllers/template_revisions.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

const Resource& RevisionKind() {
  static const Resource& kind = ResourceOf("apps/v1", "ControllerRevision");
  return kind;
}

// In the form of a patch that puts the template back: kubectl applies it as such.
json::object PatchFor(const json::object& document) {
  json::object patch;
  const json::object* found = FindObject(document, {"spec", "template"});
  json::object pattern = found != nullptr ? *found : json::object();
  pattern["$patch"] = "replace";
  ObjectAt(patch, {"spec"})["template"] = std::move(pattern);
  return patch;
}

std::int64_t NumberOf(const RevisionPtr& revision) { return NumberAt(revision->Document(), {"revision"}); }

}  // namespace

TemplateRevisions::TemplateRevisions(const ControllerContext& context, const RevisionPtr& owner,
                                     const json::object& document)
    : context_(context),
      owner_(owner),
      document_(document),
      revisions_(context.owners.ManagedBy(owner->uid(), RevisionKind())) {
  std::ranges::sort(revisions_, {}, [](const RevisionPtr& revision) {
    return std::pair(NumberOf(revision), revision->key());
  });
}

const Revision* TemplateRevisions::Latest() {
  const json::object data = PatchFor(document_);
  const std::int64_t last = revisions_.empty() ? 0 : NumberOf(revisions_.back());
  for (std::size_t i = 0; i < revisions_.size(); ++i) {
    const json::object known = revisions_[i]->Document();
    const json::object* held = FindObject(known, {"data"});
    if (held == nullptr || *held != data) continue;
    if (i + 1 == revisions_.size()) return revisions_.back().get();
    // A rollback: the old template is the newest again.
    const ApiResult<RevisionPtr> renewed =
        ChangeObject(context_.plane.writer(), *revisions_[i],
                     [&](json::object& revision) { revision["revision"] = last + 1; });
    if (!renewed) return nullptr;
    revisions_.erase(revisions_.begin() + static_cast<std::ptrdiff_t>(i));
    revisions_.push_back(*renewed);
    return revisions_.back().get();
  }
  json::object revision;
  const std::string hash = HashName(data, NumberAt(document_, {"status", "collisionCount"}));
  json::object& metadata = ObjectAt(revision, {"metadata"});
  metadata["name"] = fmt::format("{}-{}", owner_->name(), hash);
  if (const json::object* labels = FindObject(document_, {"spec", "template", "metadata", "labels"})) {
    metadata["labels"] = *labels;
  }
  ObjectAt(revision, {"metadata", "labels"})["controller.kubernetes.io/hash"] = hash;
  SetController(revision, *owner_);
  revision["data"] = data;
  revision["revision"] = last + 1;
  ApiResult<RevisionPtr> created = context_.plane.writer().Create(
      {.resource = &RevisionKind(), .namespace_name = std::string(owner_->namespace_name())},
      std::move(revision));
  if (!created) return nullptr;
  revisions_.push_back(std::move(*created));
  return revisions_.back().get();
}

const Revision* TemplateRevisions::Find(std::string_view name) const {
  for (const RevisionPtr& revision : revisions_) {
    if (revision->name() == name) return revision.get();
  }
  return nullptr;
}

json::object TemplateRevisions::Restore(const Revision& revision) const {
  json::object restored = document_;
  const json::object known = revision.Document();
  if (const json::object* pattern = FindObject(known, {"data", "spec", "template"})) {
    json::object copy = *pattern;
    copy.erase("$patch");
    ObjectAt(restored, {"spec"})["template"] = std::move(copy);
  }
  return restored;
}

void TemplateRevisions::Prune(const std::vector<std::string>& used, std::int64_t limit) {
  std::vector<RevisionPtr> idle;
  for (const RevisionPtr& revision : revisions_) {
    if (std::ranges::find(used, revision->name()) == used.end()) idle.push_back(revision);
  }
  for (std::size_t i = 0; static_cast<std::int64_t>(idle.size() - i) > limit && i < idle.size(); ++i) {
    static_cast<void>(context_.plane.writer().Delete(TargetOf(*idle[i]), {}));
  }
}

}  // namespace berth::sandbox
