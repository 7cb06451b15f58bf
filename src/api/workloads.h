#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.h"
#include "api/string_map.h"
#include "api/time.h"
#include "base/flat_map.h"

// Objects whose selectors decide default spreading, disruption budgets, and namespaces.
namespace berth::api {

struct ReplicaSetSpec {
  std::optional<LabelSelector> selector;

  bool operator==(const ReplicaSetSpec&) const = default;
};

struct ReplicaSet {
  ObjectMeta metadata;
  ReplicaSetSpec spec;

  bool operator==(const ReplicaSet&) const = default;
};

struct StatefulSetSpec {
  std::optional<LabelSelector> selector;

  bool operator==(const StatefulSetSpec&) const = default;
};

struct StatefulSet {
  ObjectMeta metadata;
  StatefulSetSpec spec;

  bool operator==(const StatefulSet&) const = default;
};

struct Namespace {
  ObjectMeta metadata;

  bool operator==(const Namespace&) const = default;
};

struct ReplicationControllerSpec {
  StringMap selector;

  bool operator==(const ReplicationControllerSpec&) const = default;
};

struct ReplicationController {
  ObjectMeta metadata;
  ReplicationControllerSpec spec;

  bool operator==(const ReplicationController&) const = default;
};

struct ServiceSpec {
  StringMap selector;

  bool operator==(const ServiceSpec&) const = default;
};

struct Service {
  ObjectMeta metadata;
  ServiceSpec spec;

  bool operator==(const Service&) const = default;
};

struct PodDisruptionBudgetSpec {
  std::optional<LabelSelector> selector;

  bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

struct PodDisruptionBudgetStatus {
  base::FlatMap<std::string, Time> disrupted_pods;
  std::int32_t disruptions_allowed = 0;

  bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

struct PodDisruptionBudget {
  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  bool operator==(const PodDisruptionBudget&) const = default;
};

}  // namespace berth::api
