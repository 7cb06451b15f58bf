#pragma once

#include "api/pod_requests.h"
#include "base/clock.h"
#include "framework/features.h"

namespace berth::queue {

struct QueueOptions {
  base::Duration pod_initial_backoff = std::chrono::seconds(1);
  base::Duration pod_max_backoff = std::chrono::seconds(10);  // zero: no backoff
  base::Duration pod_max_in_unschedulable = std::chrono::minutes(5);
  bool pop_from_backoff = true;    // KEP-5142
  bool pre_queueing_hints = true;  // KEP-6132
  bool generic_workload = false;
  bool composite_pod_group = false;
  bool deferred_resize = false;  // assigned pods whose resize is deferred are queued
  api::ResourceGates resources = {};
  // Backoff windows ordered as kube-scheduler orders them, for comparing runs with it.
  bool upstream_backoff_order = false;

  static QueueOptions From(const framework::Features& features);
};

}  // namespace berth::queue
