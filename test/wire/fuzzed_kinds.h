#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/devices.h"
#include "api/events.h"
#include "api/lease.h"
#include "api/list.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "api/workloads.h"

namespace berth::wire::test {

// In an order that inputs in the corpus rely on: a new kind comes last.
using FuzzedKinds =
    std::tuple<api::Pod, api::Node, api::List<api::Pod>, api::PersistentVolume, api::PersistentVolumeClaim,
               api::ResourceClaim, api::ResourceSlice, api::DeviceClass, api::PodGroup,
               api::CompositePodGroup, api::Lease, api::Event, api::CoreEvent, api::PodDisruptionBudget,
               api::CSIStorageCapacity, api::Status>;

// Calls check.operator()<T>(rest) for the kind T that the first byte chooses.
template <class Check>
void CheckChosenKind(const std::uint8_t* data, std::size_t size, Check&& check) {
  if (size == 0) return;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kCount = std::tuple_size_v<FuzzedKinds>;
  const std::size_t chosen = data[0] % kCount;
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    ((kIndex == chosen ? check.template operator()<std::tuple_element_t<kIndex, FuzzedKinds>>(rest) : void()),
     ...);
  }(std::make_index_sequence<kCount>());
}

}  // namespace berth::wire::test
