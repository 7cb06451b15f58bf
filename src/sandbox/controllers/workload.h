#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_selector.h"
#include "sandbox/controllers/event_recorder.h"
#include "sandbox/controllers/owner_index.h"
#include "sandbox/controllers/pod_index.h"

// What the controllers of workloads have in common.
namespace berth::sandbox {

// What every controller works with. All of it outlives the controllers.
struct ControllerContext {
  ControlPlane& plane;
  PodIndex& pods;
  OwnerIndex& owners;
  EventRecorder& events;
};

// How long a controller waits before it tries again what was refused.
inline constexpr base::Duration kRetryDelay = std::chrono::seconds(1);

// The selector of a workload, whichever form its kind has. One that cannot be read selects nothing.
api::Selector SelectorOf(const Resource& resource, const boost::json::object& workload);

// The reference that makes `owner` the manager of what carries it.
boost::json::object ControllerReference(const Revision& owner);
void SetController(boost::json::object& document, const Revision& owner);

// A pod as the template has it, without name, managed by the owner.
boost::json::object PodFromTemplate(const boost::json::object& workload, const Revision& owner);

// A number, or a percentage of `total`.
struct Share {
  const boost::json::value* value = nullptr;  // null: the fallback
  std::int64_t total = 0;
  bool round_up = false;
  std::int64_t fallback = 0;
};
std::int64_t CountOf(const Share& share);

// A short name for a document, of letters that spell no words. Equal documents have equal names.
std::string HashName(const boost::json::object& document, std::int64_t collisions);

// Writes the status if it differs. `change` gets the whole document.
ApiResult<RevisionPtr> ChangeStatus(ObjectWriter& writer, const Revision& object,
                                    const std::function<void(boost::json::object& document)>& change);
ApiResult<RevisionPtr> ChangeObject(ObjectWriter& writer, const Revision& object,
                                    const std::function<void(boost::json::object& document)>& change);

// Takes over an object that nobody manages.
void Adopt(ObjectWriter& writer, const Revision& orphan, const Revision& owner);
// The same with all pods of the owner's namespace that match: O(pods of the namespace), for a new owner.
void AdoptPods(const ControllerContext& context, const Revision& owner, const api::Selector& selector);
// Gives one up.
void Release(ObjectWriter& writer, const Revision& object, std::string_view owner_uid);

// The selectors of all workloads of a kind, to find out who may adopt an object. O(workloads of the
// namespace) for a question.
class SelectorRoster {
 public:
  void Set(const Revision& workload, const boost::json::object& document);
  void Remove(const Revision& workload);
  // Keys of the workloads whose selector matches.
  std::vector<std::string> Matching(const Revision& object) const;

 private:
  std::map<std::string, std::map<std::string, api::Selector>, std::less<>> selectors_;  // namespace, key
};

}  // namespace berth::sandbox
