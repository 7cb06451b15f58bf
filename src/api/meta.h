#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/string_map.h"
#include "api/time.h"

// Metadata that every object carries, selectors over labels, conditions and the Status answer.
namespace berth::api {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> block_owner_deletion;

  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  Time creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  bool operator==(const ObjectMeta&) const = default;
};

struct LabelSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;

  bool operator==(const LabelSelectorRequirement&) const = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool operator==(const LabelSelector&) const = default;
};

struct Condition {
  std::string type;
  std::string status;
  std::int64_t observed_generation = 0;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const Condition&) const = default;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;

  bool operator==(const Preconditions&) const = default;
};

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<Preconditions> preconditions;
  std::optional<std::string> propagation_policy;
  std::vector<std::string> dry_run;

  bool operator==(const DeleteOptions&) const = default;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_;

  bool operator==(const ListMeta&) const = default;
};

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const StatusCause&) const = default;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  std::int32_t retry_after_seconds = 0;

  bool operator==(const StatusDetails&) const = default;
};

struct Status {
  ListMeta metadata;
  std::string status;
  std::string message;
  std::string reason;
  std::optional<StatusDetails> details;
  std::int32_t code = 0;

  bool operator==(const Status&) const = default;
};

}  // namespace berth::api
