#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/pod_status_change.h"
#include "api/workloads.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "cluster/object_store.h"
#include "cycle/context.h"
#include "cycle/extender.h"
#include "cycle/object_writes.h"
#include "dispatch/call.h"

// What goes into the core and what comes out of it. Plain data: a run can be recorded and replayed.
namespace berth::core {

// An object came or changed. Objects are immutable and shared.
struct PodSeen {
  cluster::PodRecordRef pod;
};
struct NodeSeen {
  cluster::NodeRef node;
};
struct NamespaceSeen {
  std::shared_ptr<const api::Namespace> object;
};
struct WorkloadSeen {
  std::variant<std::shared_ptr<const api::Service>, std::shared_ptr<const api::ReplicationController>,
               std::shared_ptr<const api::ReplicaSet>, std::shared_ptr<const api::StatefulSet>>
      object;
};

struct ObjectSeen {
  cluster::AnyObject object;
};

// An object is gone, however that became known.
struct PodGone {
  std::string namespace_;
  std::string name;
  std::string uid;
};
struct NodeGone {
  std::string name;
};
struct NamespaceGone {
  std::string name;
};
struct WorkloadGone {
  cluster::WorkloadTable::Kind kind;
  std::string namespace_;
  std::string name;
};

// With the object as it was last seen.
struct ObjectGone {
  cluster::AnyObject object;
};

// A call that was handed out has its answer.
struct CallFinished {
  dispatch::CallId id;
  base::Result<void> result;
  bool had_effect = true;  // false: a pod that was to be deleted was gone already
};

// A write that was handed out has its answer.
struct WriteFinished {
  cycle::WriteId id;
  base::Result<cluster::AnyObject> result;
};

// A question that was handed out has its answer.
struct ExtenderFinished {
  cycle::ExtenderCallId id;
  base::Result<cycle::ExtenderAnswer> answer;
};

using Input =
    std::variant<PodSeen, PodGone, NodeSeen, NodeGone, NamespaceSeen, NamespaceGone, WorkloadSeen,
                 WorkloadGone, ObjectSeen, ObjectGone, CallFinished, WriteFinished, ExtenderFinished>;

// A request to be made; its answer comes back as CallFinished.
struct ApiCall {
  dispatch::CallId id;
  dispatch::CallType type;
  cluster::PodRecordRef pod;    // as it was last seen
  std::string node;             // of a binding
  api::PodStatusChange change;  // of a patch or deletion
  std::string nomination;       // what a patch starts from: may be newer than the pod
};

struct Outputs {
  std::vector<ApiCall> calls;
  std::vector<cycle::StartedWrite> writes;     // answered by WriteFinished
  std::vector<cycle::ExtenderCall> questions;  // answered by ExtenderFinished
  std::vector<cycle::PodEvent> events;
  std::vector<cycle::AttemptTrace> traces;

  void clear() {
    calls.clear();
    writes.clear();
    questions.clear();
    events.clear();
    traces.clear();
  }
};

}  // namespace berth::core
