#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/finalizers.h"
#include "sandbox/object_writer.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

bool IsPod(const Resource& resource) { return resource.group.empty() && resource.kind == "Pod"; }

// How long a pod is given to end: as asked, else as it says itself; at once if it does not run.
std::int64_t PodGrace(const json::object& pod, const DeleteWish& wish) {
  const std::string_view phase = TextAt(pod, {"status", "phase"});
  if (TextAt(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t grace =
      wish.grace_seconds.value_or(NumberAt(pod, {"spec", "terminationGracePeriodSeconds"}));
  return grace < 0 ? 1 : grace;
}

bool IsNamespace(const Resource& resource) { return resource.group.empty() && resource.kind == "Namespace"; }

// Here kube-apiserver names the kind where it names the resource everywhere else.
StatusError DeletionConflict(const Target& target, std::string_view why) {
  Resource named = *target.resource;
  named.plural = named.kind;
  return Conflict(named, "", target.name, why);
}

// Namespaces go by the path of updates, with its words.
ApiResult<void> CheckNamespacePreconditions(const Target& target, const Revision& current,
                                            const DeleteWish& wish) {
  const auto refuse = [&](std::string_view what, std::string_view wanted, std::string_view found) {
    return Refuse(
        Conflict(*target.resource, "", target.name,
                 fmt::format("Precondition failed: {0} in precondition: {1}, {0} in object meta: {2}", what,
                             wanted, found)));
  };
  if (wish.uid && *wish.uid != current.uid()) return refuse("UID", *wish.uid, current.uid());
  const std::string version = std::to_string(current.version());
  if (wish.version && *wish.version != version) return refuse("ResourceVersion", *wish.version, version);
  return {};
}

ApiResult<void> CheckPreconditions(const Target& target, const Revision& current, const DeleteWish& wish) {
  if (IsNamespace(current.resource())) return CheckNamespacePreconditions(target, current, wish);
  if (wish.uid && *wish.uid != current.uid()) {
    return Refuse(DeletionConflict(
        target, fmt::format("the UID in the precondition ({}) does not match the UID in record "
                            "({}). The object might have been deleted and then recreated",
                            *wish.uid, current.uid())));
  }
  if (wish.version && *wish.version != std::to_string(current.version())) {
    return Refuse(DeletionConflict(
        target,
        fmt::format("the ResourceVersion in the precondition ({}) does not match the ResourceVersion in "
                    "record ({}). The object might have been modified",
                    *wish.version, current.version())));
  }
  return {};
}

// A namespace is held by its spec too, as long as there is something in it.
bool HasFinalizers(const json::object& document) {
  for (const std::string_view part : {"metadata", "spec"}) {
    const json::array* finalizers = FindArray(document, {part, "finalizers"});
    if (finalizers != nullptr && !finalizers->empty()) return true;
  }
  return false;
}

constexpr std::string_view kOrphanFinalizer = "orphan";
constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// Kinds that are older than garbage collection leave what belongs to them unless they are told otherwise.
Propagation DefaultPropagation(const Resource& resource) {
  const bool is_old = (resource.group == "batch" && resource.kind == "Job") ||
                      (resource.group.empty() && resource.kind == "ReplicationController");
  return is_old ? Propagation::kOrphan : Propagation::kBackground;
}

// Asks the garbage collector for its part, by the finalizer that it takes away when it is done. True if that
// changed the object.
bool AskCollector(json::object& document, const Resource& resource, Propagation propagation) {
  const bool orphans = HasFinalizer(document, kOrphanFinalizer);
  const bool waits = HasFinalizer(document, kForegroundFinalizer);
  if (propagation == Propagation::kDefault) {
    if (orphans || waits) return false;
    propagation = DefaultPropagation(resource);
  }
  const bool to_orphan = propagation == Propagation::kOrphan;
  const bool to_wait = propagation == Propagation::kForeground;
  if (orphans == to_orphan && waits == to_wait) return false;
  DropFinalizer(document, kOrphanFinalizer);
  DropFinalizer(document, kForegroundFinalizer);
  if (to_orphan) AddFinalizer(document, kOrphanFinalizer);
  if (to_wait) AddFinalizer(document, kForegroundFinalizer);
  return true;
}

bool IsImmortal(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

}  // namespace

ApiResult<Removal> ObjectWriter::Delete(const Target& target, const DeleteWish& wish) {
  const ApiResult<RevisionPtr> found = Get(target);
  if (!found) return Refuse(found.error());
  const RevisionPtr& current = *found;
  const ApiResult<void> wanted = CheckPreconditions(target, *current, wish);
  if (!wanted) return Refuse(wanted.error());
  if (IsNamespace(current->resource()) && IsImmortal(target.name)) {
    return Refuse(Forbidden(*target.resource, target.name, "this namespace may not be deleted"));
  }
  json::object document = current->Document();
  const bool is_pod = IsPod(current->resource());
  const bool is_terminating = FindValue(document, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::int64_t grace = is_pod ? PodGrace(document, wish) : 0;
  const bool is_asked = AskCollector(document, current->resource(), wish.propagation);
  if (is_terminating && !is_asked) {
    // A second request can only shorten the time that is left.
    const std::int64_t before = NumberAt(document, {"metadata", "deletionGracePeriodSeconds"});
    if (HasFinalizers(document) && before == 0) return Removal{current, false};
    if (before != 0 && grace >= before) return Removal{current, false};
  }
  if (!is_pod && !HasFinalizers(document)) {
    if (wish.dry_run) return Removal{current, true};
    return Removal{store_.Remove(current), true};
  }
  return Terminate(current, std::move(document), grace, wish.dry_run);
}

// Marks the object as terminating, and removes it if nothing holds it.
ApiResult<Removal> ObjectWriter::Terminate(const RevisionPtr& current, json::object document,
                                           std::int64_t grace, bool dry_run) {
  json::object& metadata = ObjectAt(document, {"metadata"});
  const std::int64_t generation = NumberAt(metadata, {"generation"});
  // That it is to go counts as a change of what is wanted, once.
  if (generation > 0 && !metadata.contains("deletionTimestamp")) metadata["generation"] = generation + 1;
  metadata["deletionTimestamp"] = TimeText(std::chrono::seconds(grace));
  if (IsNamespace(current->resource())) {
    ObjectAt(document, {"status"})["phase"] = "Terminating";
  } else {
    metadata["deletionGracePeriodSeconds"] = grace;
  }
  const bool gone = grace == 0 && !HasFinalizers(document);
  if (dry_run) {
    const base::Result<RevisionPtr> made = Revision::Make(current->resource(), document);
    if (!made) return Refuse(InternalError(made.error().message));
    return Removal{*made, gone};
  }
  base::Result<RevisionPtr> marked = store_.Replace(current, document);
  if (!marked) return Refuse(InternalError(marked.error().message));
  if (!gone) return Removal{*marked, false};
  return Removal{store_.Remove(*marked), true};
}

}  // namespace berth::sandbox
