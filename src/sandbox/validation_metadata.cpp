#include "sandbox/validation_metadata.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"
#include "sandbox/text_parts.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kAnnotationBytesMax = 256 * 1024;

// RBAC's names may hold almost anything, because they stand in paths only.
std::vector<std::string> PathNameProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name == "." || name == "..") problems.push_back(fmt::format("may not be '{}'", name));
  for (const char bad : {'/', '%'}) {
    if (name.find(bad) != std::string_view::npos)
      problems.push_back(fmt::format("may not contain '{}'", bad));
  }
  return problems;
}

std::vector<std::string> ProblemsOfName(const Resource& resource, std::string_view name) {
  if (resource.group == "rbac.authorization.k8s.io") return PathNameProblems(name);
  if (resource.group.empty() && resource.kind == "Namespace") return DnsLabelProblems(name);
  return NameProblems(name);
}

void CheckName(const Resource& resource, const json::object& document, FieldErrorList& errors) {
  const std::string_view name = TextAt(document, {"metadata", "name"});
  if (name.empty()) {
    RequireField(errors, "metadata.name", "name or generateName is required");
    return;
  }
  AddProblems(errors, "metadata.name", name, ProblemsOfName(resource, name));
}

// It only begins a name: it may end with a dash.
void CheckGenerateName(const Resource& resource, const json::object& document, FieldErrorList& errors) {
  const std::string_view given = TextAt(document, {"metadata", "generateName"});
  if (given.empty()) return;
  std::string name(given);
  if (name.size() > 1 && name.ends_with('-')) name.replace(name.size() - 2, 2, "a");
  AddProblems(errors, "metadata.generateName", given, ProblemsOfName(resource, name));
}

void CheckAnnotations(const json::object& document, FieldErrorList& errors) {
  const json::object* annotations = FindObject(document, {"metadata", "annotations"});
  if (annotations == nullptr) return;
  std::size_t bytes = 0;
  for (const json::key_value_pair& annotation : *annotations) {
    const std::string_view key(annotation.key().data(), annotation.key().size());
    AddProblems(errors, "metadata.annotations", key, api::LabelKeyProblems(LowerCase(key)));
    bytes += key.size() + TextOf(annotation.value()).size();
  }
  if (bytes > kAnnotationBytesMax) {
    AddError(errors, FieldErrorType::kTooLong, "metadata.annotations", "",
             fmt::format("may not be more than {} bytes", kAnnotationBytesMax));
  }
}

void CheckOwners(const json::object& document, FieldErrorList& errors) {
  const json::object* metadata = FindObject(document, {"metadata"});
  if (metadata == nullptr) return;
  std::string controller;
  ForEachElement(
      *metadata, "ownerReferences", "metadata", [&](const json::object& owner, const std::string& at) {
        const std::string_view version = TextAt(owner, {"apiVersion"});
        if (std::ranges::count(version, '/') > 1 || version.ends_with('/')) {
          AddError(errors, FieldErrorType::kInvalid, at + ".apiVersion", base::QuoteGo(version),
                   "must be <group>/<version> or <version>");
        }
        for (const std::string_view key : {"apiVersion", "kind", "name", "uid"}) {
          if (TextAt(owner, {key}).empty()) {
            RequireField(errors, fmt::format("{}.{}", at, key), "must not be empty");
          }
        }
        if (version == "v1" && TextAt(owner, {"kind"}) == "Event") {
          AddError(errors, FieldErrorType::kInvalid, at, wire::WriteJson(owner),
                   "/v1, Kind=Event is disallowed from being an owner");
        }
        if (!FlagAt(owner, {"controller"})) return;
        const std::string name = fmt::format("{}/{}", TextAt(owner, {"kind"}), TextAt(owner, {"name"}));
        if (controller.empty()) {
          controller = name;
          return;
        }
        AddError(errors, FieldErrorType::kInvalid, "metadata.ownerReferences",
                 wire::WriteJson(*FindValue(document, {"metadata", "ownerReferences"})),
                 fmt::format(
                     "Only one reference can have Controller set to true. Found \"true\" in references for "
                     "{} and {}",
                     controller, name));
      });
}

std::vector<std::string_view> FinalizersOf(const json::object& document) {
  std::vector<std::string_view> names;
  if (const json::array* finalizers = FindArray(document, {"metadata", "finalizers"})) {
    for (const json::value& finalizer : *finalizers) names.push_back(TextOf(finalizer));
  }
  return names;
}

void CheckFinalizers(const Resource& resource, const json::object& document, FieldErrorList& errors) {
  constexpr std::string_view kStandard[] = {"kubernetes", "orphan", "foregroundDeletion"};
  const std::vector<std::string_view> names = FinalizersOf(document);
  for (const std::string_view name : names) CheckLabelKey(name, "metadata.finalizers", errors);
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (has("orphan") && has("foregroundDeletion")) {
    AddError(errors, FieldErrorType::kInvalid, "metadata.finalizers",
             wire::WriteJson(*FindValue(document, {"metadata", "finalizers"})),
             "finalizer orphan and foregroundDeletion cannot be both set");
  }
  // Leases are checked by rules that came later and do not know the old names.
  if (resource.group == "coordination.k8s.io") return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_qualified = names[i].find('/') != std::string_view::npos;
    if (is_qualified || std::ranges::find(kStandard, names[i]) != std::end(kStandard)) continue;
    AddError(errors, FieldErrorType::kInvalid, fmt::format("metadata.finalizers[{}]", i),
             base::QuoteGo(names[i]), "name is neither a standard finalizer name nor is it fully qualified");
  }
}

// Who is to be asked before an object goes is settled when it begins to go.
void CheckNoNewFinalizers(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (FindValue(old, {"metadata", "deletionTimestamp"}) == nullptr) return;
  const std::vector<std::string_view> before = FinalizersOf(old);
  std::vector<std::string> added;
  for (const std::string_view name : FinalizersOf(document)) {
    if (std::ranges::find(before, name) == before.end()) added.push_back(base::QuoteGo(name));
  }
  if (added.empty()) return;
  std::ranges::sort(added);
  ForbidField(
      errors, "metadata.finalizers",
      fmt::format("no new finalizers can be added if the object is being deleted, found new finalizers "
                  "[]string{{{}}}",
                  fmt::join(added, ", ")));
}

}  // namespace

void CheckNewMetadata(const Resource& resource, const json::object& document, FieldErrorList& errors) {
  CheckGenerateName(resource, document, errors);
  CheckName(resource, document, errors);
  CheckLabels(FindObject(document, {"metadata", "labels"}), "metadata.labels", errors);
  CheckAnnotations(document, errors);
  CheckOwners(document, errors);
  CheckFinalizers(resource, document, errors);
}

void CheckChangedMetadata(const Resource& resource, const json::object& document, const json::object& old,
                          FieldErrorList& errors) {
  CheckNoNewFinalizers(document, old, errors);
  CheckLabels(FindObject(document, {"metadata", "labels"}), "metadata.labels", errors);
  CheckAnnotations(document, errors);
  CheckOwners(document, errors);
  CheckFinalizers(resource, document, errors);
}

}  // namespace berth::sandbox
