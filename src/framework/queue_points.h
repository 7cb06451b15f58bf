#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cluster/cluster.h"
#include "framework/events.h"
#include "framework/signature.h"
#include "framework/status.h"

// What plugins tell the queue: who may enter, who goes first, and what wakes a rejected pod.
namespace berth::framework {

struct WaitingPod {
  const cluster::Cluster& cluster;
  cluster::PodSlot pod;

  const api::PodRecord& record() const { return cluster.pods().record(pod); }
};

// Whether a pod may be tried at all. Called at every move to the active queue; any answer but success keeps
// the pod out until an event that the plugin registered says otherwise. Must be cheap: no look at nodes.
class PreEnqueuePoint {
 public:
  virtual ~PreEnqueuePoint() = default;
  virtual Status PreEnqueue(const WaitingPod& pod) const = 0;
};

// What an order may look at; for a group, the group's own values.
struct QueueOrderKey {
  std::int32_t priority = 0;
  base::TimePoint timestamp;  // when it entered the queue
};

// A strict weak order. A profile has exactly one, and all profiles the same.
class QueueSortPoint {
 public:
  virtual ~QueueSortPoint() = default;
  virtual bool Less(const QueueOrderKey& a, const QueueOrderKey& b) const = 0;
};

// The events after which a pod that the plugin rejected may fit. Asked once, at start. A plugin without this
// point is woken by everything.
class EnqueuePoint {
 public:
  virtual ~EnqueuePoint() = default;
  // The functions of a registration may refer to the plugin.
  virtual std::vector<EventRegistration> EventsToRegister() const = 0;
};

// Adds what the plugin's answers depend on to the pod's signature: pods with equal signatures are
// interchangeable. False: pods like this one are never interchangeable.
class SignPoint {
 public:
  virtual ~SignPoint() = default;
  virtual bool Sign(const WaitingPod& pod, Signature& signature) const = 0;
};

}  // namespace berth::framework
