#include "api/node_matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

NodeSelectorRequirement Need(std::string key, std::string op, std::vector<std::string> values = {}) {
  return {.key = std::move(key), .operator_ = std::move(op), .values = std::move(values)};
}

NodeSelectorTerm Labels(std::vector<NodeSelectorRequirement> expressions) {
  return {.match_expressions = std::move(expressions), .match_fields = {}};
}

NodeSelectorTerm Name(std::string op, std::vector<std::string> names) {
  return {.match_expressions = {}, .match_fields = {Need("metadata.name", std::move(op), std::move(names))}};
}

NodeMatcher Lenient(std::vector<NodeSelectorTerm> terms) { return NodeMatcher::Compile({std::move(terms)}); }

std::string StrictError(std::vector<NodeSelectorTerm> terms) {
  const auto matcher = NodeMatcher::CompileStrict({std::move(terms)});
  return matcher ? "" : matcher.error().message;
}

const StringMap kZoneA = {{"cores", "16"}, {"zone", "a"}};
const StringMap kZoneB = {{"cores", "4"}, {"zone", "b"}};

TEST(NodeSelector, AnyTermMatchesAndAllOfATermMustHold) {
  const NodeMatcher matcher = Lenient({Labels({Need("zone", "In", {"a"}), Need("cores", "Gt", {"20"})}),
                                       Labels({Need("zone", "In", {"b"}), Need("cores", "Lt", {"8"})})});
  EXPECT_FALSE(matcher.Matches("n", kZoneA));
  EXPECT_TRUE(matcher.Matches("n", kZoneB));
}

TEST(NodeSelector, WithoutUsableTermMatchesNoNode) {
  EXPECT_FALSE(Lenient({}).Matches("n", kZoneA));
  EXPECT_FALSE(Lenient({NodeSelectorTerm{}}).Matches("n", kZoneA));
  EXPECT_EQ(StrictError({NodeSelectorTerm{}}), "");
}

TEST(NodeSelector, EmptyTermDoesNotDisturbTheOthers) {
  EXPECT_TRUE(Lenient({NodeSelectorTerm{}, Labels({Need("zone", "Exists")})}).Matches("n", kZoneA));
}

TEST(NodeSelector, MatchFieldsCompareTheName) {
  EXPECT_TRUE(Lenient({Name("In", {"n1"})}).Matches("n1", kZoneA));
  EXPECT_FALSE(Lenient({Name("In", {"n1"})}).Matches("n2", kZoneA));
  EXPECT_FALSE(Lenient({Name("NotIn", {"n1"})}).Matches("n1", kZoneA));
  NodeSelectorTerm both = Name("In", {"n1"});
  both.match_expressions = {Need("zone", "In", {"b"})};
  EXPECT_FALSE(Lenient({both}).Matches("n1", kZoneA));
  EXPECT_TRUE(Lenient({both}).Matches("n1", kZoneB));
}

TEST(NodeSelector, UnknownFieldReadsEmpty) {
  const NodeSelectorTerm term = {.match_expressions = {},
                                 .match_fields = {Need("spec.unschedulable", "In", {""})}};
  EXPECT_TRUE(Lenient({term}).Matches("n1", kZoneA));
}

TEST(NodeSelector, NodeWithoutNameIgnoresMatchFields) {
  EXPECT_TRUE(Lenient({Name("In", {"n1"})}).Matches("", kZoneA));
}

// Pods with a broken term were accepted by old API servers: what still makes sense of them is honoured.
TEST(NodeSelector, WrongTermIsToldOnlyWhereNoGoodTermMatches) {
  const NodeMatcher matcher =
      Lenient({Labels({Need("zone", "Is", {"a"})}), Labels({Need("zone", "In", {"b"})})});
  EXPECT_THAT(matcher.Match("n", kZoneB), true);
  EXPECT_FALSE(matcher.Matches("n", kZoneA));
  const auto match = matcher.Match("n", kZoneA);
  ASSERT_FALSE(match.has_value());
  EXPECT_EQ(match.error().message,
            "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Is\": supported values: "
            "\"In\", "
            "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"");
}

TEST(NodeSelector, StrictErrorListsAllTermsInOrder) {
  NodeSelectorTerm third = Labels({Need("n", "Gt", {"1", "x"})});
  third.match_fields = {Need("metadata.name", "In"), Need("metadata.name", "Exists")};
  EXPECT_EQ(StrictError({Labels({Need("a", "In")}), NodeSelectorTerm{}, third}),
            "[nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' "
            "operators, values "
            "set can't be empty, nodeSelectorTerms[2].matchExpressions[0].values: Invalid value: "
            "[\"1\",\"x\"]: for "
            "'Gt', 'Lt' operators, exactly one value is required, "
            "nodeSelectorTerms[2].matchExpressions[0].values[1]: "
            "Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer, "
            "nodeSelectorTerms[2].matchFields[0].values: Invalid value: null: must have one element, "
            "nodeSelectorTerms[2].matchFields[1].operator: Unsupported value: \"Exists\": supported values: "
            "\"In\", "
            "\"NotIn\"]");
}

TEST(NodeSelector, ErrorsBeginWithTheCallersPath) {
  const auto matcher = NodeMatcher::CompileStrict({{Labels({Need("a", "In")})}}, FieldPath("addedAffinity"));
  ASSERT_FALSE(matcher.has_value());
  EXPECT_THAT(matcher.error().message,
              StartsWith("addedAffinity.nodeSelectorTerms[0].matchExpressions[0].values: "));
}

TEST(NodeSelector, KnowsWhetherItReadsNames) {
  EXPECT_FALSE(Lenient({Labels({Need("zone", "Exists")})}).reads_name());
  EXPECT_TRUE(Lenient({Labels({Need("zone", "Exists")}), Name("In", {"n1"})}).reads_name());
}

Affinity Required(std::vector<NodeSelectorTerm> terms) {
  NodeAffinity node_affinity;
  node_affinity.required_during_scheduling_ignored_during_execution = NodeSelector{std::move(terms)};
  return {.node_affinity = std::move(node_affinity), .pod_affinity = {}, .pod_anti_affinity = {}};
}

TEST(RequiredNodeAffinity, NodeSelectorAndAffinityMustBothHold) {
  const RequiredNodeAffinity required({{"zone", "a"}}, Required({Labels({Need("cores", "Gt", {"8"})})}));
  EXPECT_TRUE(required.Matches("n", kZoneA));
  EXPECT_FALSE(required.Matches("n", kZoneB));
  EXPECT_FALSE(required.Matches("n", StringMap{{"zone", "a"}, {"cores", "8"}}));
}

TEST(RequiredNodeAffinity, PodWithoutRequirementsFitsAnyNode) {
  EXPECT_TRUE(RequiredNodeAffinity({}, std::nullopt).matches_everything());
  EXPECT_TRUE(RequiredNodeAffinity({}, Affinity{}).Matches("n", kZoneA));
  EXPECT_FALSE(RequiredNodeAffinity({}, Required({})).matches_everything());
  EXPECT_FALSE(RequiredNodeAffinity({}, Required({})).Matches("n", kZoneA));
}

TEST(RequiredNodeAffinity, NodeSelectorMismatchHidesWrongTerms) {
  const RequiredNodeAffinity required({{"zone", "a"}}, Required({Labels({Need("x", "In")})}));
  EXPECT_THAT(required.Match("n", kZoneB), false);
  EXPECT_FALSE(required.Match("n", kZoneA).has_value());
}

TEST(PreferredNodeTerms, ScoreIsTheSumOfMatchingWeights) {
  const std::vector<PreferredSchedulingTerm> terms = {
      {.weight = 10, .preference = Labels({Need("zone", "Exists")})},
      {.weight = 30, .preference = Labels({Need("zone", "In", {"a"})})},
      {.weight = 60, .preference = Name("In", {"n2"})}};
  const auto preferred = PreferredNodeTerms::Compile(terms);
  ASSERT_TRUE(preferred.has_value());
  EXPECT_EQ(preferred->Score("n1", kZoneA), 40);
  EXPECT_EQ(preferred->Score("n2", kZoneB), 70);
  EXPECT_EQ(preferred->Score("n1", StringMap{}), 0);
  EXPECT_TRUE(preferred->reads_name());
}

TEST(PreferredNodeTerms, WeightlessAndEmptyTermsAreNotEvenRead) {
  const std::vector<PreferredSchedulingTerm> terms = {
      {.weight = 0, .preference = Labels({Need("zone", "Is")})}, {.weight = 5, .preference = {}}};
  const auto preferred = PreferredNodeTerms::Compile(terms);
  ASSERT_TRUE(preferred.has_value());
  EXPECT_EQ(preferred->Score("n1", kZoneA), 0);
}

TEST(PreferredNodeTerms, AnyOtherWrongTermSpoilsTheList) {
  const std::vector<PreferredSchedulingTerm> terms = {
      {.weight = 1, .preference = Labels({Need("zone", "Exists")})},
      {.weight = 1, .preference = Labels({Need("zone", "In")})}};
  const auto preferred = PreferredNodeTerms::Compile(terms);
  ASSERT_FALSE(preferred.has_value());
  EXPECT_EQ(
      preferred.error().message,
      "[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
      "empty");
}

std::optional<std::vector<std::string>> Pinned(std::vector<NodeSelectorTerm> terms) {
  return PinnedNodeNames(NodeSelector{std::move(terms)});
}

TEST(PinnedNodeNames, UnionOverTermsOfTheirIntersections) {
  NodeSelectorTerm narrowed = Name("In", {"n3", "n2"});
  narrowed.match_fields.push_back(Need("metadata.name", "In", {"n4", "n3"}));
  EXPECT_THAT(Pinned({narrowed, Name("In", {"n1"})}), Optional(ElementsAre("n1", "n3")));
}

TEST(PinnedNodeNames, TermThatNamesNoNodeLiftsTheLimit) {
  EXPECT_EQ(Pinned({Name("In", {"n1"}), Labels({Need("zone", "Exists")})}), std::nullopt);
  EXPECT_EQ(Pinned({Name("NotIn", {"n1"})}), std::nullopt);
  EXPECT_EQ(Pinned({Name("In", {"n1"}), NodeSelectorTerm{}}), std::nullopt);
  EXPECT_EQ(Pinned({}), std::nullopt);
}

TEST(PinnedNodeNames, ContradictionLeavesNoNode) {
  NodeSelectorTerm contradiction = Name("In", {"n1"});
  contradiction.match_fields.push_back(Need("metadata.name", "In", {"n2"}));
  EXPECT_THAT(Pinned({contradiction}), Optional(IsEmpty()));
  EXPECT_THAT(Pinned({contradiction, Name("In", {"n3"})}), Optional(ElementsAre("n3")));
}

}  // namespace
}  // namespace berth::api
