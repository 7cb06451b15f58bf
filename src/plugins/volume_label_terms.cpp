#include "plugins/volume_label_terms.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::plugins {

NodeLabelTerms::NodeLabelTerms(const api::NodeMatcher& matcher, const cluster::LabelTable& labels)
    : everything_(false) {
  for (const api::NodeTerm& term : matcher.terms()) {
    std::vector<Condition>& conditions = terms_.emplace_back();
    for (const api::Requirement& requirement : term.labels().requirements()) {
      Condition& made = conditions.emplace_back();
      made.key = labels.FindKey(requirement.key());
      made.is_list = requirement.op() == api::SelectorOperator::kIn;
      if (!made.is_list) {
        made.other = requirement;
        continue;
      }
      for (const std::string& value : requirement.values()) {
        const cluster::LabelValueId id = labels.FindValue(value);
        if (id.IsValid()) made.values.push_back(id);
      }
    }
  }
}

bool NodeLabelTerms::Matches(const cluster::LabelTable& labels, cluster::LabelSetId set) const {
  if (everything_) return true;
  const auto holds = [&](const Condition& condition) {
    const cluster::LabelValueId value =
        condition.key.IsValid() ? labels.Value(set, condition.key) : cluster::LabelValueId();
    if (condition.is_list) {
      return value.IsValid() && std::ranges::find(condition.values, value) != condition.values.end();
    }
    return condition.other->MatchesValue(
        value.IsValid() ? std::optional<std::string_view>(labels.ValueText(value)) : std::nullopt);
  };
  return std::ranges::any_of(terms_, [&](const std::vector<Condition>& conditions) {
    return std::ranges::all_of(conditions, holds);
  });
}

}  // namespace berth::plugins
