#pragma once

#include "base/ids.h"

// The numbers by which the parts of the cluster know each other. All are dense and reused after deletion:
// whoever keeps one from one step to the next keeps a base::Versioned one and asks the table whether it is
// current.
namespace berth::cluster {

using NodeRow = base::Id<struct NodeRowTag>;
using NodeNameId = base::Id<struct NodeNameTag>;
using PodSlot = base::Id<struct PodSlotTag>;
using NamespaceId = base::Id<struct NamespaceTag>;

using LabelKeyId = base::Id<struct LabelKeyTag>;
using LabelValueId = base::Id<struct LabelValueTag>;
using LabelSetId = base::Id<struct LabelSetTag>;
using TaintSetId = base::Id<struct TaintSetTag>;
using FeatureSetId = base::Id<struct FeatureSetTag>;
using ImageId = base::Id<struct ImageTag>;
using ResourceId = base::Id<struct ResourceTag>;
using RequestsId = base::Id<struct RequestsTag>;
using ClaimId = base::Id<struct ClaimTag>;

// What selectors can tell about a pod: its label set and its namespace.
using PodClassId = base::Id<struct PodClassTag>;
using MatcherId = base::Id<struct MatcherTag>;
using CounterId = base::Id<struct CounterTag>;
using TallyId = base::Id<struct TallyTag>;
using TermId = base::Id<struct TermTag>;
using TermListId = base::Id<struct TermListTag>;

using TopologyKeyId = base::Id<struct TopologyKeyTag>;
// Dense per topology key. Invalid: the node has no such label. A label with an empty value is a domain.
using DomainId = base::Id<struct DomainTag>;
using EligibilityId = base::Id<struct EligibilityTag>;

// Always there, in this order; other resources follow as nodes and pods name them.
inline constexpr ResourceId kCpu{0};  // in thousandths
inline constexpr ResourceId kMemory{1};
inline constexpr ResourceId kEphemeralStorage{2};
inline constexpr ResourceId kPods{3};

}  // namespace berth::cluster
