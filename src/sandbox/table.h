#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "sandbox/representation.h"

// Objects as kubectl shows them: a row each, with the columns of their kind.
namespace berth::sandbox {

struct TableOptions {
  std::string_view include_object = {};  // Metadata (or empty), Object, None
  base::WallPoint now = {};
  bool with_columns = true;  // of a watch, only the first event has them
};

boost::json::object MakeTable(const Resource& served, std::span<const RevisionPtr> items,
                              const ListHead& head, const TableOptions& options);

// The object's metadata alone.
boost::json::object MetadataOnly(const Resource& served, const Revision& object);
boost::json::object MetadataOnlyList(const Resource& served, std::span<const RevisionPtr> items,
                                     const ListHead& head);

// "5m", "3h2m", "12d": the time since, as kubectl prints ages.
std::string HumanDuration(base::Duration duration);

}  // namespace berth::sandbox
