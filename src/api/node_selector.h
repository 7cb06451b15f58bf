#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Selectors over nodes. Matching rules: node_matching.h.
namespace berth::api {

struct NodeSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;

  bool operator==(const NodeSelectorRequirement&) const = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;

  bool operator==(const NodeSelectorTerm&) const = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;

  bool operator==(const PreferredSchedulingTerm&) const = default;
};

}  // namespace berth::api
