#include "queue/pre_enqueue_runner.h"

#include <algorithm>

#include "base/log.h"

namespace berth::queue {

bool PreEnqueueRunner::Run(Item& pod) const {
  if (pod.profile == kNoProfile) {
    pod.params.gating = kNoPlugin;
    return true;
  }
  const std::span<const PluginId> plugins = events_.pre_enqueue_ids(pod.profile);
  const auto last = std::ranges::find(plugins, pod.params.gating);
  const auto first = static_cast<std::size_t>(last - plugins.begin());
  if (last != plugins.end() && !Passes(pod, first)) return false;
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    if (i != first && !Passes(pod, i)) return false;
  }
  pod.params.gating = kNoPlugin;
  if (observer_ != nullptr) observer_->OnPassed(pod.pod);
  return true;
}

bool PreEnqueueRunner::Passes(Item& pod, std::size_t plugin) const {
  const QueueProfile::PreEnqueue& pre_enqueue = events_.profile(pod.profile).pre_enqueue[plugin];
  framework::Status status = pre_enqueue.point->PreEnqueue({.cluster = cluster_, .pod = pod.pod.id});
  if (status.IsSuccess()) return true;
  if (status.code() == framework::Code::kError) {
    BERTH_LOG_ERROR(status.Message(), "Unexpected error running PreEnqueue plugin",
                    {"pod", base::LogObject{pod.record->namespace_, pod.record->name}},
                    {"plugin", pre_enqueue.plugin});
  }
  const PluginId id = events_.pre_enqueue_ids(pod.profile)[plugin];
  if (!pod.params.rejectors().Contains(id)) {
    metrics_.AddUnschedulable(pre_enqueue.plugin, pod.record->spec->spec.scheduler_name, 1);
  }
  pod.params.unschedulable.Insert(id);
  pod.params.gating = id;
  if (observer_ != nullptr) {
    status.SetPlugin(pre_enqueue.plugin);
    GateVerdict verdict{.status = status, .model = pre_enqueue.model};
    if (pre_enqueue.model.source == framework::ReportModel::Source::kResult && pre_enqueue.report != nullptr)
      verdict.result_message = pre_enqueue.report->MessageFor({.cluster = cluster_, .pod = pod.pod.id});
    observer_->OnRejected(pod.pod, verdict);
  }
  return false;
}

}  // namespace berth::queue
