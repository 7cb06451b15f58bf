#include "shell/scheduler_process.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "client/pod_status_patch.h"

#include "api/wall_time.h"
#include "base/log.h"

namespace berth::shell {
namespace {

// More at once fill memory and the server's queue, not the time: a server that takes 50 ms for a write still
// gets more than a thousand a second.
constexpr std::size_t kCallsInFlightMax = 64;

api::ObjectReference ReferenceTo(const api::PodRecord& pod) {
  api::ObjectReference reference;
  reference.kind = "Pod";
  reference.api_version = "v1";
  reference.namespace_ = pod.namespace_;
  reference.name = pod.name;
  reference.uid = pod.uid;
  reference.resource_version = pod.resource_version;
  return reference;
}

}  // namespace

SchedulerProcess::SchedulerProcess(net::EventLoop& loop, ProcessOptions options)
    : options_(std::move(options)),
      loop_(loop),
      executor_(loop),
      timer_(loop),
      tasks_(std::make_unique<base::TaskSet>(executor_.executor())) {}

SchedulerProcess::~SchedulerProcess() = default;

base::Result<std::unique_ptr<SchedulerProcess>> SchedulerProcess::Make(net::EventLoop& loop,
                                                                       ProcessOptions options) {
  std::unique_ptr<SchedulerProcess> process(new SchedulerProcess(loop, std::move(options)));
  if (process->options_.scheduler.calls_in_flight_max == 0) {
    process->options_.scheduler.calls_in_flight_max = kCallsInFlightMax;
  }
  process->options_.scheduler.extenders.clear();
  for (const config::Extender& extender : process->options_.extenders) {
    process->options_.scheduler.extenders.push_back(SpecOf(extender));
  }
  auto scheduler = core::Scheduler::Make(process->options_.scheduler, process->clock_, process->metrics_);
  if (!scheduler) return std::unexpected(std::move(scheduler.error()));
  process->scheduler_ = *std::move(scheduler);
  process->scheduler_->SetDeciding(false);
  if (auto connected = process->Connect(); !connected) return std::unexpected(std::move(connected.error()));
  return process;
}

base::Result<void> SchedulerProcess::Connect() {
  auto connection =
      client::Connection::Make(executor_, options_.connection, client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  connection_ = *std::move(connection);
  // What a server answers does not say which one it was.
  BERTH_LOG(0, "Working with the API server", {"server", options_.connection.server.ToString()});
  client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                connection_->credentials(), options_.client);
  event_client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                      connection_->credentials(), options_.client);
  base::Random random(options_.seed);
  pods_ = std::make_unique<client::PodWriter>(*client_, base::Random(random.Next()));
  objects_ = std::make_unique<ObjectRequests>(*client_, base::Random(random.Next()));
  events_ = std::make_unique<client::EventRecorder>(
      *event_client_, client::EventRecorder::Options{.hostname = options_.hostname, .seed = random.Next()});
  if (options_.leader_election) {
    if (auto valid = client::LeaderElector::Validate(*options_.leader_election); !valid) return valid;
    client::ApiClientOptions election = options_.client;
    election.user_agent = options_.election_user_agent;
    // So that one request that hangs leaves time for another before the lease is lost.
    election.timeout =
        std::max<base::Duration>(std::chrono::seconds(1), options_.leader_election->renew_deadline / 2);
    election_client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                           connection_->credentials(), std::move(election));
    elector_ = std::make_unique<client::LeaderElector>(*election_client_, *options_.leader_election);
  }
  auto extenders = ExtenderRequests::Make(executor_, options_.extenders);
  if (!extenders) return std::unexpected(std::move(extenders.error()));
  extenders_ = *std::move(extenders);
  const bool shows_nodes = std::ranges::any_of(options_.extenders, [](const config::Extender& extender) {
    return !extender.node_cache_capable &&
           (!extender.filter_verb.empty() || !extender.prioritize_verb.empty());
  });
  auto watches = WatchThread::Make(executor_,
                                   {.connection = options_.connection,
                                    .client = options_.client,
                                    .seed = random.Next(),
                                    .keeps_whole_pods = !options_.extenders.empty(),
                                    .keeps_whole_nodes = shows_nodes,
                                    .on_silence = [this] { client_->DropIdleConnections(); }},
                                   [this](std::vector<core::Input> seen) {
                                     std::ranges::move(seen, std::back_inserter(inputs_));
                                     Wake();
                                   });
  if (!watches) return std::unexpected(std::move(watches.error()));
  watches_ = *std::move(watches);
  return {};
}

void SchedulerProcess::Start() {
  tasks_->Spawn(connection_->Run());
  tasks_->Spawn(events_->Run());
  tasks_->Spawn(Lead());
  watches_->Start();
  executor_.Wake();
}

base::Task<void> SchedulerProcess::Lead() {
  co_await watches_->WaitForSync();
  if (!elector_) {
    scheduler_->SetDeciding(true);
    Wake();
    co_return;
  }
  const bool won = co_await elector_->Acquire(stop_.token());
  if (!won) co_return;
  // Beside it, because catching up may take longer than the lease lasts.
  tasks_->Spawn(TakeOver());
  co_await elector_->Hold(stop_.token());
  scheduler_->SetDeciding(false);
  if (!stop_.IsCancelled() && on_lease_lost_) on_lease_lost_();
}

base::Task<void> SchedulerProcess::TakeOver() {
  co_await watches_->CatchUp();
  if (!elector_->is_leader() || stop_.IsCancelled()) co_return;
  scheduler_->SetDeciding(true);
  Wake();
}

base::Task<void> SchedulerProcess::Release(std::function<void()> on_stopped) {
  // Whoever keeps the lease has been told to stop and does not call itself leader any more.
  if (elector_) co_await elector_->Release();
  on_stopped();
}

void SchedulerProcess::Stop(std::function<void()> on_stopped) {
  scheduler_->SetDeciding(false);
  stop_.Cancel();
  tasks_->Spawn(Release(std::move(on_stopped)));
  executor_.Wake();
}

void SchedulerProcess::Wake() {
  if (is_step_due_) return;
  is_step_due_ = true;
  timer_.StartAfter({}, [this] { Step(); });
}

void SchedulerProcess::Step() {
  is_step_due_ = false;
  const std::vector<core::Input> inputs = std::exchange(inputs_, {});
  scheduler_->Step(inputs, outputs_);
  for (const cycle::PodEvent& event : outputs_.events) Record(event);
  for (core::ApiCall& call : outputs_.calls) tasks_->Spawn(Execute(std::move(call)));
  for (cycle::StartedWrite& write : outputs_.writes) tasks_->Spawn(Execute(std::move(write)));
  for (cycle::ExtenderCall& call : outputs_.questions) tasks_->Spawn(Ask(std::move(call)));
  outputs_.clear();
  executor_.Wake();
  if (scheduler_->HasWork()) {
    Wake();
  } else if (const auto next = scheduler_->NextDeadline(); next && !is_step_due_) {
    timer_.StartAt(*next, [this] { Step(); });
  }
}

base::Task<void> SchedulerProcess::Execute(core::ApiCall call) {
  const base::Result<bool> had_effect = co_await Request(call);
  Finish(call, had_effect);
}

base::Task<void> SchedulerProcess::Execute(cycle::StartedWrite write) {
  base::Result<cluster::AnyObject> result;
  if (auto may_write = MayWrite(); !may_write) {
    result = std::unexpected(std::move(may_write.error()));
  } else {
    result = co_await objects_->Request(std::move(write.write));
  }
  inputs_.push_back(core::WriteFinished{write.id, std::move(result)});
  Wake();
}

base::Task<void> SchedulerProcess::Ask(cycle::ExtenderCall call) {
  const cycle::ExtenderCallId id = call.id;
  base::Result<cycle::ExtenderAnswer> answer;
  const base::Result<void> may_write = MayWrite();
  if (call.verb == cycle::ExtenderVerb::kBind && !may_write) {
    answer = std::unexpected(may_write.error());
  } else {
    answer = co_await extenders_->Ask(std::move(call));
  }
  inputs_.push_back(core::ExtenderFinished{id, std::move(answer)});
  Wake();
}

base::Result<void> SchedulerProcess::MayWrite() const {
  if (elector_ && elector_->IsOverdue({})) {
    return base::Fail("the lease has run out: nothing is written any more");
  }
  return {};
}

void SchedulerProcess::Finish(const core::ApiCall& call, const base::Result<bool>& had_effect) {
  base::Result<void> result;
  if (!had_effect) result = std::unexpected(had_effect.error());
  if (!result) {
    BERTH_LOG_ERROR(result.error(), "A request about a pod failed",
                    {"pod", base::LogObject{call.pod->namespace_, call.pod->name}},
                    {"call", dispatch::CallTypeName(call.type)});
  }
  inputs_.push_back(core::CallFinished{call.id, result, had_effect.value_or(false)});
  Wake();
}

base::Task<base::Result<bool>> SchedulerProcess::Request(const core::ApiCall& call) {
  if (auto may_write = MayWrite(); !may_write) co_return std::unexpected(std::move(may_write.error()));
  client::PodName pod{call.pod->namespace_, call.pod->name, call.pod->uid};
  client::ApiResult<void> result;
  switch (call.type) {
    case dispatch::CallType::kPodBinding:
      result = co_await pods_->Bind(std::move(pod), call.node);
      break;
    case dispatch::CallType::kPodStatusPatch:
      result = co_await pods_->PatchStatus(
          std::move(pod),
          client::PodStatusPatch(*call.pod, call.change, api::TimeOf(clock_.WallNow()), call.nomination));
      break;
    case dispatch::CallType::kPodDeletion: {
      const client::ApiResult<bool> deleted = co_await pods_->Preempt(
          std::move(pod),
          client::PodStatusPatch(*call.pod, call.change, api::TimeOf(clock_.WallNow()), call.nomination));
      if (deleted) co_return *deleted;
      result = std::unexpected(deleted.error());
      break;
    }
  }
  if (!result) co_return base::Fail(result.error().message);
  co_return true;
}

void SchedulerProcess::Record(const cycle::PodEvent& event) {
  client::EventNote note{.regarding = ReferenceTo(*event.pod),
                         .type = event.type,
                         .reason = event.reason,
                         .action = event.action,
                         .note = event.note,
                         .reporting_controller = event.reporter};
  if (event.related) note.related = ReferenceTo(*event.related);
  events_->Record(std::move(note));
}

}  // namespace berth::shell
