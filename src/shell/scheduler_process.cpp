#include "shell/scheduler_process.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "client/pod_status_patch.h"

#include "api/wall_time.h"
#include "base/log.h"
#include "net/url.h"
#include "shell/free_memory.h"

namespace berth::shell {
namespace {

// More at once fill memory and the queue of a server that is busy. One that takes its time over each write
// without being busy gets more; a server allows a hundred on a connection, so that takes three.
constexpr std::size_t kCallsInFlightMax = 64;
constexpr std::size_t kCallsInFlightMost = 250;
// Enough for all that may be answered in one round.
constexpr std::size_t kCallsWaitingMax = 128;
// How long a scheduler that is replaced may go on with what it has begun, and how often it is looked at.
constexpr base::Duration kReplaceGrace = std::chrono::seconds(5);
constexpr base::Duration kReplaceCheck = std::chrono::milliseconds(20);

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

struct SchedulerProcess::Successor {
  std::uint64_t generation = 0;
  core::SchedulerOptions options;
  Work work;
  // What it asks for before its turn is done then.
  core::Outputs outputs;
  std::unique_ptr<WatchThread> watches;
  std::function<void()> on_done;
  // Last: the task refers to the rest.
  std::unique_ptr<base::TaskSet> tasks;
};

SchedulerProcess::SchedulerProcess(net::EventLoop& loop, ProcessOptions options)
    : options_(std::move(options)),
      executor_(loop),
      random_(options_.seed),
      timer_(loop),
      tasks_(std::make_unique<base::TaskSet>(executor_.executor())),
      promotion_(loop) {
  loop.SetPace(client::AnswerPace::kMin);
  loop.OnRest([this, alive = std::weak_ptr<const bool>(alive_)](net::EventLoop::Rest) {
    if (!alive.expired() && watches_) KeepPace();
  });
}

void SchedulerProcess::KeepPace() {
  const base::Duration pace = pace_.Next(connection_->http().counts());
  executor_.loop().SetPace(pace);
  // Most of what the watches then say is that pods are bound, which nobody waits for.
  watches_->SetPace(pace);
}

SchedulerProcess::~SchedulerProcess() = default;

base::Result<std::unique_ptr<SchedulerProcess>> SchedulerProcess::Make(net::EventLoop& loop,
                                                                       ProcessOptions options) {
  std::unique_ptr<SchedulerProcess> process(new SchedulerProcess(loop, std::move(options)));
  auto work = process->MakeWork(process->options_.scheduler);
  if (!work) return std::unexpected(std::move(work.error()));
  process->scheduler_metrics_ = std::move(work->metrics);
  process->scheduler_ = std::move(work->scheduler);
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
  request_metrics_ = std::make_unique<client::RequestMetrics>(
      metrics_, net::JoinHostPort(options_.connection.server.host, options_.connection.server.port));
  options_.client.metrics = request_metrics_.get();
  client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                connection_->credentials(), options_.client);
  event_client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                      connection_->credentials(), options_.client);
  pods_ = std::make_unique<client::PodWriter>(*client_, base::Random(random_.Next()));
  objects_ = std::make_unique<ObjectRequests>(*client_, base::Random(random_.Next()));
  events_ = std::make_unique<client::EventRecorder>(
      *event_client_, client::EventRecorder::Options{
                          .api = std::nullopt, .hostname = options_.hostname, .seed = random_.Next()});
  if (options_.leader_election) {
    if (auto valid = client::LeaderElector::Validate(*options_.leader_election); !valid) return valid;
    client::ApiClientOptions election = options_.client;
    election.user_agent = options_.election_user_agent;
    // So that one request that hangs leaves time for another before the lease is lost.
    election.timeout =
        std::max<base::Duration>(std::chrono::seconds(1), options_.leader_election->renew_deadline / 2);
    election_client_ = std::make_unique<client::ApiClient>(executor_.executor(), connection_->transport(),
                                                           connection_->credentials(), std::move(election));
    election_events_ = std::make_unique<client::EventRecorder>(
        *event_client_,
        client::EventRecorder::Options{
            .api = client::EventRecorder::Api::kCore, .hostname = options_.hostname, .seed = random_.Next()});
    options_.leader_election->on_change = [this](const std::string& message) { RecordElection(message); };
    elector_ = std::make_unique<client::LeaderElector>(*election_client_, *options_.leader_election);
  }
  auto extenders = ExtenderRequests::Make(executor_, options_.extenders);
  if (!extenders) return std::unexpected(std::move(extenders.error()));
  extenders_ = *std::move(extenders);
  auto watches = MakeWatches(generation_);
  if (!watches) return std::unexpected(std::move(watches.error()));
  watches_ = *std::move(watches);
  return {};
}

base::Result<SchedulerProcess::Work> SchedulerProcess::MakeWork(const core::SchedulerOptions& options) const {
  core::SchedulerOptions wanted = options;
  if (wanted.calls_in_flight_max == 0) {
    wanted.calls_in_flight_max = kCallsInFlightMax;
    wanted.calls_in_flight_most = kCallsInFlightMost;
  }
  if (wanted.calls_waiting_max == 0) wanted.calls_waiting_max = kCallsWaitingMax;
  wanted.extenders.clear();
  for (const config::Extender& extender : options_.extenders) wanted.extenders.push_back(SpecOf(extender));
  Work work{.metrics = std::make_unique<base::MetricRegistry>(), .scheduler = nullptr};
  auto scheduler = core::Scheduler::Make(wanted, clock_, *work.metrics);
  if (!scheduler) return std::unexpected(std::move(scheduler.error()));
  work.scheduler = *std::move(scheduler);
  work.scheduler->SetDeciding(false);
  if (options_.prepare_metrics) options_.prepare_metrics(*work.metrics);
  return work;
}

base::Result<std::unique_ptr<WatchThread>> SchedulerProcess::MakeWatches(std::uint64_t generation) {
  const bool shows_nodes = std::ranges::any_of(options_.extenders, [](const config::Extender& extender) {
    return !extender.node_cache_capable &&
           (!extender.filter_verb.empty() || !extender.prioritize_verb.empty());
  });
  return WatchThread::Make(
      executor_,
      {.connection = options_.connection,
       .client = options_.client,
       .seed = random_.Next(),
       .keeps_whole_pods = !options_.extenders.empty(),
       .keeps_whole_nodes = shows_nodes,
       .on_silence = [this] { client_->DropIdleConnections(); }},
      [this, generation](std::span<const core::Input> seen) { Receive(generation, seen); });
}

void SchedulerProcess::Receive(std::uint64_t generation, std::span<const core::Input> seen) {
  if (generation == generation_) {
    // In the order in which things became known.
    scheduler_->Take(inputs_, outputs_);
    inputs_.clear();
    scheduler_->Take(seen, outputs_);
    Wake();
  } else if (next_ != nullptr && next_->generation == generation) {
    next_->work.scheduler->Step(seen, next_->outputs);
  }
}

base::Result<void> SchedulerProcess::Reconfigure(core::SchedulerOptions options,
                                                 std::function<void()> on_done) {
  auto work = MakeWork(options);
  if (!work) return std::unexpected(std::move(work.error()));
  const std::uint64_t generation = ++generations_;
  auto watches = MakeWatches(generation);
  if (!watches) return std::unexpected(std::move(watches.error()));
  if (!is_watching_) {
    // The old one has seen nothing: there is nothing to take over.
    generation_ = generation;
    options_.scheduler = std::move(options);
    watches_ = *std::move(watches);
    scheduler_ = std::move(work->scheduler);
    scheduler_metrics_ = std::move(work->metrics);
    if (on_done) on_done();
    return {};
  }
  promotion_.Cancel();
  next_.reset();
  is_replacing_ = false;
  UpdateDeciding();
  next_ = std::make_unique<Successor>();
  next_->generation = generation;
  next_->options = std::move(options);
  next_->work = *std::move(work);
  next_->watches = *std::move(watches);
  next_->on_done = std::move(on_done);
  next_->tasks = std::make_unique<base::TaskSet>(executor_.executor());
  next_->watches->Start();
  next_->tasks->Spawn(AwaitTurn());
  executor_.Wake();
  return {};
}

base::Task<void> SchedulerProcess::AwaitTurn() {
  co_await next_->watches->WaitForSync();
  // Nobody may still wait for something that the old watches will say.
  while (!watches_->has_synced() || is_taking_over_) {
    co_await executor_.executor().SleepFor(kReplaceCheck);
  }
  is_replacing_ = true;
  UpdateDeciding();
  const base::TimePoint until = clock_.Now() + kReplaceGrace;
  while ((requests_in_flight_ > 0 || scheduler_->binding_count() > 0) && clock_.Now() < until) {
    co_await executor_.executor().SleepFor(kReplaceCheck);
  }
  co_await next_->watches->CatchUp();
  // Not from here: this task is part of what is taken apart.
  promotion_.StartAfter({}, [this] { Promote(); });
}

void SchedulerProcess::Promote() {
  const std::unique_ptr<Successor> next = std::move(next_);
  generation_ = next->generation;
  options_.scheduler = std::move(next->options);
  watches_ = std::move(next->watches);
  inputs_.clear();
  outputs_ = std::move(next->outputs);
  scheduler_ = std::move(next->work.scheduler);
  scheduler_metrics_ = std::move(next->work.metrics);
  requests_in_flight_ = 0;
  is_replacing_ = false;
  UpdateDeciding();
  Wake();
  if (next->on_done) next->on_done();
}

void SchedulerProcess::Start() {
  tasks_->Spawn(connection_->Run());
  tasks_->Spawn(events_->Run());
  if (election_events_) tasks_->Spawn(election_events_->Run());
  tasks_->Spawn(Lead());
  if (!options_.delays_cache || !elector_) StartWatching();
  executor_.Wake();
}

void SchedulerProcess::StartWatching() {
  is_watching_ = true;
  // Flags, configuration, certificates: what is read next is as large as the cluster.
  ReturnStartupPages();
  watches_->Start();
}

base::Task<void> SchedulerProcess::Lead() {
  if (is_watching_) co_await watches_->WaitForSync();
  if (!elector_) {
    may_decide_ = true;
    UpdateDeciding();
    Wake();
    co_return;
  }
  const bool won = co_await elector_->Acquire(stop_.token());
  if (!won) co_return;
  if (!is_watching_) StartWatching();
  // Beside it, because catching up may take longer than the lease lasts.
  is_taking_over_ = true;
  tasks_->Spawn(TakeOver());
  co_await elector_->Hold(stop_.token());
  may_decide_ = false;
  UpdateDeciding();
  if (!stop_.IsCancelled() && on_lease_lost_) on_lease_lost_();
}

base::Task<void> SchedulerProcess::TakeOver() {
  co_await watches_->WaitForSync();
  co_await watches_->CatchUp();
  is_taking_over_ = false;
  if (!elector_->is_leader() || stop_.IsCancelled()) co_return;
  may_decide_ = true;
  UpdateDeciding();
  Wake();
}

base::Task<void> SchedulerProcess::Release(std::function<void()> on_stopped) {
  // Whoever keeps the lease has been told to stop and does not call itself leader any more.
  if (elector_) co_await elector_->Release();
  on_stopped();
}

void SchedulerProcess::Stop(std::function<void()> on_stopped) {
  may_decide_ = false;
  UpdateDeciding();
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
  scheduler_->Step(inputs_, outputs_);
  inputs_.clear();
  for (const cycle::PodEvent& event : outputs_.events) Record(event);
  if (options_.on_traces && !outputs_.traces.empty()) options_.on_traces(std::exchange(outputs_.traces, {}));
  requests_in_flight_ += outputs_.calls.size() + outputs_.writes.size() + outputs_.questions.size();
  for (core::ApiCall& call : outputs_.calls) tasks_->Spawn(Execute(std::move(call), generation_));
  for (cycle::StartedWrite& write : outputs_.writes) tasks_->Spawn(Execute(std::move(write), generation_));
  for (cycle::ExtenderCall& call : outputs_.questions) tasks_->Spawn(Ask(std::move(call), generation_));
  outputs_.clear();
  executor_.Wake();
  if (scheduler_->HasWork()) {
    Wake();
  } else if (const auto next = scheduler_->NextDeadline(); next && !is_step_due_) {
    timer_.StartAt(*next, [this] { Step(); });
  }
}

base::Task<void> SchedulerProcess::Execute(core::ApiCall call, std::uint64_t generation) {
  const base::Result<bool> had_effect = co_await Request(call);
  Finish(call, had_effect, generation);
}

base::Task<void> SchedulerProcess::Execute(cycle::StartedWrite write, std::uint64_t generation) {
  base::Result<cluster::AnyObject> result;
  if (auto may_write = MayWrite(); !may_write) {
    result = std::unexpected(std::move(may_write.error()));
  } else {
    result = co_await objects_->Request(std::move(write.write));
  }
  Answer(core::WriteFinished{write.id, std::move(result)}, generation);
}

void SchedulerProcess::Answer(core::Input answer, std::uint64_t generation) {
  if (generation != generation_) return;
  --requests_in_flight_;
  inputs_.push_back(std::move(answer));
  Wake();
}

base::Task<void> SchedulerProcess::Ask(cycle::ExtenderCall call, std::uint64_t generation) {
  const cycle::ExtenderCallId id = call.id;
  base::Result<cycle::ExtenderAnswer> answer;
  const base::Result<void> may_write = MayWrite();
  if (call.verb == cycle::ExtenderVerb::kBind && !may_write) {
    answer = std::unexpected(may_write.error());
  } else {
    answer = co_await extenders_->Ask(std::move(call));
  }
  Answer(core::ExtenderFinished{id, std::move(answer)}, generation);
}

base::Result<void> SchedulerProcess::MayWrite() const {
  if (elector_ && elector_->IsOverdue({})) {
    return base::Fail("the lease has run out: nothing is written any more");
  }
  return {};
}

void SchedulerProcess::Finish(const core::ApiCall& call, const base::Result<bool>& had_effect,
                              std::uint64_t generation) {
  base::Result<void> result;
  if (!had_effect) result = std::unexpected(had_effect.error());
  if (!result) {
    BERTH_LOG_ERROR(result.error(), "A request about a pod failed",
                    {"pod", base::LogObject{call.pod->namespace_, call.pod->name}},
                    {"call", dispatch::CallTypeName(call.type)});
  }
  Answer(core::CallFinished{call.id, result, had_effect.value_or(false)}, generation);
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

void SchedulerProcess::RecordElection(const std::string& message) {
  const auto& lease = elector_->observed();
  client::EventNote note{.regarding = {},
                         .type = "Normal",
                         .reason = "LeaderElection",
                         .action = "",
                         .note = message,
                         .reporting_controller = ""};
  note.regarding.kind = "Lease";
  note.regarding.api_version = "coordination.k8s.io/v1";
  note.regarding.namespace_ = options_.leader_election->namespace_;
  note.regarding.name = options_.leader_election->name;
  if (lease) {
    note.regarding.uid = lease->metadata.uid;
    note.regarding.resource_version = lease->metadata.resource_version;
  }
  const auto& profiles = options_.scheduler.profiles;
  note.reporting_controller = profiles.empty() ? "default-scheduler" : profiles.front().scheduler_name;
  election_events_->Record(std::move(note));
  executor_.Wake();
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
