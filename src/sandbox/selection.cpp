#include "sandbox/selection.h"

#include <algorithm>
#include <fmt/format.h>

#include "api/field_selector.h"

namespace berth::sandbox {
namespace {

constexpr std::string_view kName = "metadata.name";
constexpr std::string_view kNamespace = "metadata.namespace";

// Kinds with fields of their own word the refusal differently from those that have none.
StatusError UnknownField(const Resource& served, std::string_view field) {
  if (served.kind == "Job") return BadRequest(fmt::format("field label \"{}\" not supported for Job", field));
  if (served.kind == "ResourceSlice") {
    return BadRequest(
        fmt::format("field label not supported for {}, Kind=ResourceSlice: {}", served.api_version, field));
  }
  if (!served.fields.empty()) return BadRequest(fmt::format("field label not supported: {}", field));
  return BadRequest(fmt::format(
      "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", field));
}

}  // namespace

ApiResult<Selection> Selection::Make(const Resource& served, const Request& request) {
  Selection selection(served);
  selection.namespace_name_ = request.namespace_name;
  selection.name_ = request.name;
  base::Result<api::Selector> labels = api::Selector::Parse(request.label_selector);
  if (!labels) return Refuse(BadRequest(labels.error().message));
  selection.labels_ = std::move(*labels);
  const base::Result<api::FieldSelector> fields = api::FieldSelector::Parse(request.field_selector);
  if (!fields) return Refuse(BadRequest(fields.error().message));
  for (const api::FieldRequirement& requirement : fields->requirements()) {
    if (requirement.field == kName || requirement.field == kNamespace) {
      const bool on_name = requirement.field == kName;
      std::string& fixed = on_name ? selection.name_ : selection.namespace_name_;
      if (requirement.equal && fixed.empty()) fixed = requirement.value;
      selection.metadata_.push_back({on_name, requirement.equal, requirement.value});
      continue;
    }
    const auto it = std::ranges::find(served.fields, requirement.field, &SelectableField::label);
    if (it == served.fields.end()) return Refuse(UnknownField(served, requirement.field));
    const auto index = static_cast<std::size_t>(it - served.fields.begin());
    selection.fields_.push_back({index, requirement.equal, requirement.value});
  }
  return selection;
}

bool Selection::Matches(const Revision& revision) const {
  if (!namespace_name_.empty() && revision.namespace_name() != namespace_name_) return false;
  if (!name_.empty() && revision.name() != name_) return false;
  for (const MetaTest& test : metadata_) {
    const std::string_view value = test.on_name ? revision.name() : revision.namespace_name();
    if ((value == test.value) != test.equal) return false;
  }
  for (const FieldTest& test : fields_) {
    if ((revision.field(test.index) == test.value) != test.equal) return false;
  }
  return labels_.Matches(revision.labels());
}

const std::string* Selection::first_field() const {
  for (const FieldTest& test : fields_) {
    if (test.index == 0 && test.equal) return &test.value;
  }
  return nullptr;
}

}  // namespace berth::sandbox
