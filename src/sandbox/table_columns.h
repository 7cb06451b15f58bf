#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sandbox/kinds.h"

namespace berth::sandbox {

// One column of a kind's table, and how its cell is read off an object.
struct Column {
  using Cell = std::function<boost::json::value(const boost::json::object& object, base::WallPoint now)>;

  std::string_view name;
  std::string_view type;  // string, integer, boolean
  int priority = 0;       // 1: shown on request only
  Cell cell;
};

// Kinds without columns of their own have name and age.
std::span<const Column> ColumnsOf(const Resource& resource);

}  // namespace berth::sandbox
