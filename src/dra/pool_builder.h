#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "dra/gates.h"
#include "dra/pool.h"

namespace berth::dra {

// What tells the devices of two slices apart.
std::string ShapeText(std::string_view driver, const api::Device& device);
// Everything but the name.
std::string KindText(const api::ResourceSliceSpec& slice, const api::Device& device);

// A slice of a pool and whether it is for the node.
struct PooledSlice {
  const SliceRecord* slice = nullptr;
  bool targets_node = false;
};

// A complete pool. The slices are of one generation and sorted by name.
PoolView BuildPool(std::span<const PooledSlice> slices, const Gates& gates);

}  // namespace berth::dra
