#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "sandbox/admission.h"
#include "sandbox/patch.h"
#include "sandbox/store.h"

namespace berth::sandbox {

// On whose behalf fields are written (managed_fields.h).
struct FieldManager {
  std::string name = {};
  bool is_noted_at_creation = false;  // else managers are kept only for objects that have some already
  bool applies = false;               // by server-side apply: the document lists the managers already
};

// Which object a request is about.
struct Target {
  const Resource* resource = nullptr;  // as served
  std::string namespace_name = {};
  std::string name = {};
  std::string subresource = {};
  FieldManager manager = {};
};

// What becomes of the objects that belong to a deleted one.
enum class Propagation : std::uint8_t {
  kDefault,     // as the kind has it
  kBackground,  // they are deleted once it is gone
  kForeground,  // it goes once they are gone
  kOrphan,      // they stay
};

struct DeleteWish {
  std::optional<std::int64_t> grace_seconds = {};
  std::optional<std::string> uid = {};  // preconditions
  std::optional<std::string> version = {};
  Propagation propagation = Propagation::kDefault;
  bool dry_run = false;
};

struct Removal {
  RevisionPtr object;  // the last state, or the one that is now terminating
  bool gone = false;   // removed at once
};

// The refusal of an object that has a value of the wrong type. `why` is what made that clear.
StatusError Undecodable(const Resource& served, const boost::json::object& document, std::string_view why);

// Writes as the API makes them: what a request may set, what the server fills in, which conflicts there are.
// Used by the REST front, and directly by what runs inside the sandbox (nodes, controllers).
//
// Documents are in the form of the served resource. The answers are stored revisions, except that a dry run
// answers one that nobody stored.
class ObjectWriter final : public Lookup {
 public:
  ObjectWriter(Store& store, const base::Clock& clock, std::uint64_t seed)
      : store_(store), clock_(clock), random_(seed) {}

  ApiResult<RevisionPtr> Create(const Target& target, boost::json::object document, bool dry_run = false);
  // Replaces the object, or its status.
  ApiResult<RevisionPtr> Update(const Target& target, boost::json::object document, bool dry_run = false);

  // Changes the object as it is now; nothing is stored if `change` refuses. `change` gets the served form.
  using Changer = std::function<ApiResult<boost::json::object>(const boost::json::object& current)>;
  ApiResult<RevisionPtr> Change(const Target& target, const Changer& change, bool dry_run = false);

  ApiResult<Removal> Delete(const Target& target, const DeleteWish& wish);
  // Puts a pod on a node, as the binding subresource does. `binding` is a Binding object.
  ApiResult<void> Bind(const Target& target, const boost::json::object& binding, bool dry_run = false);
  // Deletes a pod unless a disruption budget protects it.
  ApiResult<Removal> Evict(const Target& target, const DeleteWish& wish);

  RevisionPtr Find(const Resource& resource, std::string_view namespace_name,
                   std::string_view name) const override {
    return store_.Find(resource, namespace_name, name);
  }
  void ForEach(const Resource& resource, const std::function<void(const RevisionPtr&)>& visit) const override;
  ApiResult<RevisionPtr> Get(const Target& target) const;

  Store& store() { return store_; }
  const base::Clock& clock() const { return clock_; }
  std::string TimeText(base::Duration from_now = base::Duration(0)) const;

 private:
  ApiResult<void> CheckNamespace(const Target& target) const;
  ApiResult<void> NameIt(const Target& target, boost::json::object& document);
  ApiResult<RevisionPtr> StoreUpdate(const Target& target, const RevisionPtr& current,
                                     boost::json::object document, const boost::json::object& old,
                                     bool dry_run);
  ApiResult<Removal> Terminate(const RevisionPtr& current, boost::json::object document, std::int64_t grace,
                               bool dry_run);
  // Notes in metadata.managedFields who wrote what. `old` is null for a creation.
  void NoteManagers(const Target& target, boost::json::object& document,
                    const boost::json::object* old) const;
  AdmissionContext context() const { return {*this, clock_.WallNow()}; }

  Store& store_;
  const base::Clock& clock_;
  base::Random random_;
};

}  // namespace berth::sandbox
