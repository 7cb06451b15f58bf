#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// The templates that a StatefulSet has had, kept as ControllerRevisions so that `kubectl rollout` can show
// and restore them.
class TemplateRevisions {
 public:
  TemplateRevisions(const ControllerContext& context, const RevisionPtr& owner,
                    const boost::json::object& document);

  // The one for the present template, made if there is none. Null if it could not be stored.
  const Revision* Latest();
  const Revision* Find(std::string_view name) const;
  // The owner with the template of that revision.
  boost::json::object Restore(const Revision& revision) const;
  // Forgets the oldest beyond the limit, but none that is in use.
  void Prune(const std::vector<std::string>& used, std::int64_t limit);

 private:
  const ControllerContext& context_;
  const RevisionPtr owner_;
  const boost::json::object& document_;
  std::vector<RevisionPtr> revisions_;  // oldest first
};

}  // namespace berth::sandbox
