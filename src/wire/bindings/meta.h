#pragma once

#include "api/meta.h"
#include "wire/binding.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::OwnerReference> {
  using T = api::OwnerReference;
  static constexpr std::string_view kMessage = "meta.v1.OwnerReference";
  static constexpr auto kFields = std::tuple{Bound{"apiVersion", &T::api_version},
                                             Bound{"kind", &T::kind},
                                             Bound{"name", &T::name},
                                             Bound{"uid", &T::uid},
                                             Bound{"controller", &T::controller},
                                             Bound{"blockOwnerDeletion", &T::block_owner_deletion}};
};

template <>
struct Binding<api::ObjectMeta> {
  using T = api::ObjectMeta;
  static constexpr std::string_view kMessage = "meta.v1.ObjectMeta";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name},
                 Bound{"generateName", &T::generate_name},
                 Bound{"namespace", &T::namespace_},
                 Bound{"uid", &T::uid},
                 Bound{"resourceVersion", &T::resource_version},
                 Bound{"generation", &T::generation},
                 Bound{"creationTimestamp", &T::creation_timestamp},
                 Bound{"deletionTimestamp", &T::deletion_timestamp},
                 Bound{"deletionGracePeriodSeconds", &T::deletion_grace_period_seconds},
                 Bound{"labels", &T::labels},
                 Bound{"annotations", &T::annotations},
                 Bound{"ownerReferences", &T::owner_references},
                 Bound{"finalizers", &T::finalizers}};
};

template <>
struct Binding<api::LabelSelectorRequirement> {
  using T = api::LabelSelectorRequirement;
  static constexpr std::string_view kMessage = "meta.v1.LabelSelectorRequirement";
  static constexpr auto kFields =
      std::tuple{Bound{"key", &T::key}, Bound{"operator", &T::operator_}, Bound{"values", &T::values}};
};

template <>
struct Binding<api::LabelSelector> {
  using T = api::LabelSelector;
  static constexpr std::string_view kMessage = "meta.v1.LabelSelector";
  static constexpr auto kFields =
      std::tuple{Bound{"matchLabels", &T::match_labels}, Bound{"matchExpressions", &T::match_expressions}};
};

template <>
struct Binding<api::Condition> {
  using T = api::Condition;
  static constexpr std::string_view kMessage = "meta.v1.Condition";
  static constexpr auto kFields = std::tuple{Bound{"type", &T::type},
                                             Bound{"status", &T::status},
                                             Bound{"observedGeneration", &T::observed_generation},
                                             Bound{"lastTransitionTime", &T::last_transition_time},
                                             Bound{"reason", &T::reason},
                                             Bound{"message", &T::message}};
};

template <>
struct Binding<api::Preconditions> {
  using T = api::Preconditions;
  static constexpr std::string_view kMessage = "meta.v1.Preconditions";
  static constexpr auto kFields =
      std::tuple{Bound{"uid", &T::uid}, Bound{"resourceVersion", &T::resource_version}};
};

template <>
struct Binding<api::DeleteOptions> {
  using T = api::DeleteOptions;
  static constexpr std::string_view kMessage = "meta.v1.DeleteOptions";
  static constexpr auto kFields = std::tuple{
      Bound{"gracePeriodSeconds", &T::grace_period_seconds}, Bound{"preconditions", &T::preconditions},
      Bound{"propagationPolicy", &T::propagation_policy}, Bound{"dryRun", &T::dry_run}};
};

template <>
struct Binding<api::ListMeta> {
  using T = api::ListMeta;
  static constexpr std::string_view kMessage = "meta.v1.ListMeta";
  static constexpr auto kFields =
      std::tuple{Bound{"resourceVersion", &T::resource_version}, Bound{"continue", &T::continue_}};
};

template <>
struct Binding<api::StatusCause> {
  using T = api::StatusCause;
  static constexpr std::string_view kMessage = "meta.v1.StatusCause";
  static constexpr auto kFields =
      std::tuple{Bound{"reason", &T::reason}, Bound{"message", &T::message}, Bound{"field", &T::field}};
};

template <>
struct Binding<api::StatusDetails> {
  using T = api::StatusDetails;
  static constexpr std::string_view kMessage = "meta.v1.StatusDetails";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name},     Bound{"group", &T::group},
                 Bound{"kind", &T::kind},     Bound{"uid", &T::uid},
                 Bound{"causes", &T::causes}, Bound{"retryAfterSeconds", &T::retry_after_seconds}};
};

template <>
struct Binding<api::Status> {
  using T = api::Status;
  static constexpr std::string_view kMessage = "meta.v1.Status";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"status", &T::status},
                                             Bound{"message", &T::message},   Bound{"reason", &T::reason},
                                             Bound{"details", &T::details},   Bound{"code", &T::code}};
};

}  // namespace berth::wire
