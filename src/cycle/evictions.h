#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "cycle/context.h"
#include "cycle/pod_deletions.h"
#include "cycle/pre_binding_pods.h"
#include "cycle/waiting_pods.h"
#include "framework/ongoing_preemptions.h"

namespace berth::cycle {

// Makes the room that preemption found: evicts the victims, beside everything else that goes on.
//
// 1. While it does, the pod that the room is for is held back (framework::OngoingPreemptions).
// 2. The last victim goes alone, after all others: when it goes the pod is let free, whether the request is
//    answered first or the deletion seen first.
// 3. An answer may overtake the watch. A pod that was let free by the answer alone would find its victims
//    where they were and choose others.
// 4. Nothing is left waiting: if the last victim's end is not going to be heard of, because it failed, cost
//    no request or was heard of already, the pod is tried again at once. So it is if anything else happened
//    meanwhile that was worth a try.
class Evictions {
 public:
  using PodRef = base::Versioned<cluster::PodSlot>;

  Evictions(const CycleContext& context, WaitingPods& waiting, PreBindingPods& pre_binding);

  struct Order {
    std::string scheduler_name;
    std::string plugin;  // that chose the victims
    PodRef preemptor;
    cluster::PodRecordRef record;  // of the preemptor
    std::string node;
    std::vector<PodRef> victims;  // the most important first
  };
  // Victims that are going already are left alone; with no others nothing happens at all.
  void Start(Order order);

  // The watch showed a change of a pod on a node, or its end.
  void NoticeChange(PodRef pod);

  // For which evictions go on.
  std::size_t size() const { return tasks_.size(); }

 private:
  enum class End : std::uint8_t { kFailed, kGone, kInMemory, kDeleted };

  base::Task<void> Run(Order order);
  // All but the last, beside each other. True: some failed.
  base::Task<bool> EvictOthers(const Order& order);
  base::Task<void> EvictBeside(const Order& order, PodRef victim, bool& failed);
  base::Task<End> Evict(const Order& order, PodRef victim);
  bool IsToGo(PodRef victim) const;
  // Until the watch shows that the victim goes.
  base::Task<void> WaitUntilSeen(PodRef victim);
  // A victim that is not bound yet loses its place without a request.
  bool StopBinding(const Order& order, const api::PodRecord& victim);
  // A request of its PreBind may be on its way: until that is answered it keeps its place.
  base::Task<void> WaitUntilStopped(std::string uid);
  void Tell(const Order& order, const cluster::PodRecordRef& victim, bool in_memory) const;
  // Pods of lower priority that counted on the node do so in vain now.
  void ClearLowerNominations(const Order& order) const;
  // Something happened meanwhile after which it was worth a try.
  bool WasHeldBack(const Order& order) const;
  void TryAgain(PodRef preemptor) const;

  CycleContext context_;
  WaitingPods& waiting_;
  PreBindingPods& pre_binding_;
  framework::OngoingPreemptions& ongoing_;
  PodDeletions deletions_;
  std::map<PodRef, base::Event> unseen_;  // victims that are deleted and not seen to go
  // Last, so that it goes first: the tasks refer to the rest.
  base::TaskSet tasks_;
};

}  // namespace berth::cycle
