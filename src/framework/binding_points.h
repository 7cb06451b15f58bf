#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/writes.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/status.h"

// The points after a node was chosen, until the pod is bound.
namespace berth::framework {

// A pod on its way to a node. It owns what plugins remembered of the pod, because binding outlives the cycle:
// other attempts run between its steps, and the pod or node may be gone at any of them.
struct Assignment {
  base::Versioned<cluster::PodSlot> pod;
  cluster::PodRecordRef record;  // as it was when the node was chosen
  base::Versioned<cluster::NodeRow> row;
  std::string node_name;
  Cycle::Data data;  // by PluginIndex

  template <class T>
  T* DataOf(const Plugin& plugin) const {
    return static_cast<T*>(data[plugin.index()].get());
  }
};

// Takes what the pod will use, in memory. Unreserve gives it back; it is called for every plugin of this
// point, also one that did not reserve, and cannot fail.
class ReservePoint {
 public:
  virtual ~ReservePoint() = default;
  virtual Status Reserve(cluster::Cluster& cluster, Assignment& assignment) const = 0;
  virtual void Unreserve(cluster::Cluster& cluster, Assignment& assignment) const = 0;
};

enum class AfterWait : std::uint8_t { kReject, kAllow };

struct PermitResult {
  Status status;
  base::Duration timeout{};  // of a wait; at most 15 minutes count
  AfterWait after_wait = AfterWait::kReject;
};

class PermitPoint {
 public:
  virtual ~PermitPoint() = default;
  virtual PermitResult Permit(const cluster::Cluster& cluster, Assignment& assignment) const = 0;
};

// What the user of a pod is told while the pod is on its way, as an event.
struct PodNote {
  std::string reason;
  std::string action;
  std::string text;
};

// How plugins write to the API server. The room that owns the connection implements it.
class ApiWriter {
 public:
  virtual ~ApiWriter() = default;
  virtual base::Task<base::Result<void>> Bind(api::Binding binding) = 0;
  virtual void Tell(const Assignment&, PodNote) {}
};

// Owned by the binding cycle and alive until its last task is done.
struct BindingContext {
  cluster::Cluster& cluster;
  ApiWriter& api;
  base::Executor& executor;  // for a PreBind that waits
  base::CancellationToken cancelled;
};

struct PreFlightResult {
  Status status;  // success, skip (PreBind has nothing to do) or an error
  bool allow_parallel = false;
};

class PreBindPoint {
 public:
  virtual ~PreBindPoint() = default;
  // A quick look, before the slow part.
  virtual PreFlightResult PreBindPreFlight(const cluster::Cluster& cluster,
                                           const Assignment& assignment) const = 0;
  virtual base::Task<Status> PreBind(BindingContext& context, Assignment& assignment) const = 0;
};

// The first one that does not answer Skip has bound the pod, or failed to.
class BindPoint {
 public:
  virtual ~BindPoint() = default;
  virtual base::Task<Status> Bind(BindingContext& context, Assignment& assignment) const = 0;
};

class PostBindPoint {
 public:
  virtual ~PostBindPoint() = default;
  virtual void PostBind(cluster::Cluster& cluster, Assignment& assignment) const = 0;
};

}  // namespace berth::framework
