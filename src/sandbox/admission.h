#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "sandbox/revision.h"
#include "sandbox/status_error.h"

// What happens to an object between decoding and storing: defaults, and what the server fills in or refuses.
// Documents are whole objects in their stored form, normalized (revision.h), so that what is absent is absent
// and quantities are canonical. All of it is pure but for the lookups.
namespace berth::sandbox {

// Other objects that admission may depend on.
class Lookup {
 public:
  virtual ~Lookup() = default;
  virtual RevisionPtr Find(const Resource& resource, std::string_view namespace_name,
                           std::string_view name) const = 0;
  // In the order of their names.
  virtual void ForEach(const Resource& resource,
                       const std::function<void(const RevisionPtr&)>& visit) const = 0;
};

struct AdmissionContext {
  const Lookup& lookup;
  base::WallPoint now;
};

// Fills in what the API fills in for fields that are left out. Idempotent.
void ApplyDefaults(const Resource& resource, boost::json::object& document);

// A new object, after metadata is set and defaults are applied: wiped status, first generation, priority,
// tolerations and whatever else a kind gets at birth.
ApiResult<void> AdmitCreate(const Resource& resource, boost::json::object& document,
                            const AdmissionContext& context);

// A change through the main endpoint: keeps the old status, counts the generation.
ApiResult<void> AdmitUpdate(const Resource& resource, boost::json::object& document,
                            const boost::json::object& old, const AdmissionContext& context);

// A change through /status: keeps everything but the status.
ApiResult<void> AdmitStatusUpdate(const Resource& resource, boost::json::object& document,
                                  const boost::json::object& old, const AdmissionContext& context);

}  // namespace berth::sandbox
