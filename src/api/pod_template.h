#pragma once

#include <cstddef>
#include <memory>

#include "api/pod.h"
#include "base/ids.h"
#include "base/interner.h"

namespace berth::api {

// The part of a pod's spec that a scheduler looks at and that all pods of one Deployment share: requests,
// selectors, affinity, tolerations, spread constraints, ports, priority, gates, and the shape of its claims.
// Immutable; pods hold it by shared pointer, so it goes away with the last of them.
//
// What is a pod's own is cut out before interning (PodRecord has it): nodeName, the names of its persistent
// volume claims and resource claims. Volumes that no plugin reads (service-account tokens, config maps, empty
// dirs, with their random names) are dropped. A pod's labels were never part of the spec.
struct PodTemplate {
  PodSpec spec;
  std::size_t hash = 0;  // SpecHash(spec)

  bool operator==(const PodTemplate& other) const;
};

using PodTemplateRef = std::shared_ptr<const PodTemplate>;

// Equal specs have equal hashes; quantities hash by their number, as they compare. The same in every process.
std::size_t SpecHash(const PodSpec& spec);

using TemplateId = base::Id<struct TemplateTag>;

// Numbers the templates of the pods that are in the core, densely and each once. Decoding threads intern on
// their own, so equal templates may come in different allocations: the first one stays.
//
// Intern() gives the template one more reference and its id, Release() takes one away; with the last one the
// id is free for another template. Costs one hash table operation; templates are compared by value only when
// an equal hash comes in another allocation.
class TemplateTable {
 public:
  TemplateId Intern(const PodTemplateRef& pod_template);
  void Acquire(TemplateId id);
  // True when this was the last reference.
  bool Release(TemplateId id);

  const PodTemplateRef& Get(TemplateId id) const { return table_.Get(id); }
  // For caches that outlive a template: whether the id still means the same one.
  base::Versioned<TemplateId> Version(TemplateId id) const { return table_.Version(id); }
  bool IsCurrent(base::Versioned<TemplateId> versioned) const { return table_.IsCurrent(versioned); }

  std::size_t size() const { return table_.size(); }
  // One more than the largest id in use so far: the length of a column by template.
  std::size_t slot_count() const { return table_.slot_count(); }

 private:
  struct Hash {
    std::size_t operator()(const PodTemplateRef& pod_template) const { return pod_template->hash; }
  };
  struct Equal {
    bool operator()(const PodTemplateRef& a, const PodTemplateRef& b) const;
  };

  base::InternTable<TemplateId, PodTemplateRef, Hash, Equal> table_;
};

}  // namespace berth::api
