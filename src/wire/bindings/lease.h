#pragma once

#include "api/lease.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::LeaseSpec> {
  using T = api::LeaseSpec;
  static constexpr std::string_view kMessage = "coordination.v1.LeaseSpec";
  static constexpr auto kFields = std::tuple{Bound{"holderIdentity", &T::holder_identity},
                                             Bound{"leaseDurationSeconds", &T::lease_duration_seconds},
                                             Bound{"acquireTime", &T::acquire_time},
                                             Bound{"renewTime", &T::renew_time},
                                             Bound{"leaseTransitions", &T::lease_transitions},
                                             Bound{"strategy", &T::strategy},
                                             Bound{"preferredHolder", &T::preferred_holder}};
};

template <>
struct Binding<api::Lease> {
  using T = api::Lease;
  static constexpr std::string_view kMessage = "coordination.v1.Lease";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

}  // namespace berth::wire
