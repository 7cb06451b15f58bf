#include "cycle/dispatched_writer.h"

#include <memory>
#include <utility>

#include "base/future.h"

namespace berth::cycle {

base::Task<base::Result<void>> DispatchedWriter::Bind(api::Binding binding) {
  const auto& pods = context_.cluster.pods();
  const cluster::PodSlot slot = pods.Find(binding.metadata.uid);
  if (!slot.IsValid()) co_return base::Fail("pods \"" + binding.metadata.name + "\" not found");
  // Shared, because the dispatcher may tell the end of the call after this task was dropped.
  auto promise = std::make_shared<base::Promise<dispatch::CallOutcome>>(context_.executor);
  auto future = promise->future();
  dispatch::Call call{.type = dispatch::CallType::kPodBinding,
                      .pod = pods.facts(slot).record,
                      .node = std::move(binding.target.name),
                      .change = {}};
  call.on_finish = [promise](const dispatch::CallOutcome& outcome) { promise->Set(outcome); };
  static_cast<void>(context_.dispatcher.Add(std::move(call)));
  const std::optional<dispatch::CallOutcome> outcome = co_await future.Get();
  if (!outcome) co_return base::Fail("the binding was given up");
  // A deletion may have taken the place of a binding that was not sent yet: then the pod is not bound.
  if (outcome->end != dispatch::CallEnd::kSucceeded) co_return base::Fail(outcome->message);
  co_return base::Result<void>();
}

void DispatchedWriter::Tell(const framework::Assignment& assignment, framework::PodNote note) {
  context_.events.Record({.pod = assignment.record,
                          .reporter = assignment.record->spec->spec.scheduler_name,
                          .type = "Normal",
                          .reason = std::move(note.reason),
                          .action = std::move(note.action),
                          .note = std::move(note.text)});
}

}  // namespace berth::cycle
