#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/field_set.h"
#include "sandbox/kinds.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

// One entry of metadata.managedFields: who owns which fields, and how he came by them.
struct ManagerEntry {
  std::string manager;
  bool applies = false;  // by server-side apply; else by ordinary writes
  std::string subresource;
  std::string api_version;
  std::string time;
  FieldSet fields;

  bool IsSameManager(const ManagerEntry& other) const {
    return manager == other.manager && applies == other.applies && subresource == other.subresource;
  }
};

std::vector<ManagerEntry> ReadManagers(const boost::json::object& document);
// Entries that own nothing are left out; without entries the key goes.
void WriteManagers(boost::json::object& document, const std::vector<ManagerEntry>& managers);

// On whose behalf a write is made, and when.
struct ManagedWrite {
  std::string_view manager;
  std::string_view subresource = {};
  std::string_view now;
};

// An ordinary write took `old` to `document`: what it changed is the writer's from now on. `old` is null for
// a creation.
void TrackWrite(const Resource& served, boost::json::object& document, const boost::json::object* old,
                const ManagedWrite& write);

// Server-side apply: the object as it is with what the manager wants of it, without what he wanted before and
// wants no more. Refused with all conflicts if that changes what others own, unless forced.
ApiResult<boost::json::object> ApplyConfiguration(const Resource& served, const boost::json::object& current,
                                                  const boost::json::object& config,
                                                  const ManagedWrite& write, bool force);

}  // namespace berth::sandbox
