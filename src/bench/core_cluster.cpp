#include "bench/core_cluster.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unistd.h>
#include <utility>

#include "sandbox/document.h"
#include "sandbox/patch.h"
#include "shell/watched_objects.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// Every run starts at the same date, so that its objects are the same.
constexpr base::WallPoint kStart{std::chrono::seconds(1'767'225'600)};
// A step takes some time even if the processor's clock is too coarse to see it: time never stands still.
constexpr base::Duration kStepMin{1};

sim::Faults NoDelay() {
  sim::Faults faults;
  faults.watch_delay_max = {};
  faults.call_delay_max = {};
  return faults;
}

// The controllers that scheduler_perf runs beside a scheduler.
sandbox::Controllers::Options OnlyNeeded() {
  sandbox::Controllers::Options options;
  for (const std::string_view name : sandbox::Controllers::Names()) {
    if (name != "garbage-collector-controller" && name != "namespace-controller" &&
        name != "resourceclaim-controller") {
      options.disabled.emplace(name);
    }
  }
  return options;
}

template <class T>
sandbox::ApiResult<void> WithoutValue(const sandbox::ApiResult<T>& result) {
  if (!result) return sandbox::Refuse(result.error());
  return {};
}

}  // namespace

CoreCluster::CoreCluster(const CoreClusterOptions& options)
    : options_(options),
      clock_(base::TimePoint(), kStart),
      plane_(clock_, {.store = {}, .api = {}, .seed = options.seed}),
      controllers_(plane_, OnlyNeeded()),
      calls_(
          plane_, timers_, [this](core::CallFinished finished) { inputs_.push_back(std::move(finished)); },
          base::Random(options.seed)),
      writes_(
          plane_, [this](core::WriteFinished finished) { inputs_.push_back(std::move(finished)); },
          base::Random(options.seed)),
      subscription_(plane_.store().Subscribe(sandbox::Selection(sandbox::ResourceOf("v1", "Pod")), *this)) {
  calls_.SetFaults(NoDelay());
  for (const client::Resource resource : shell::WatchedResources()) {
    watches_.push_back(std::make_unique<sim::WatchLink>(plane_, resource, shared_));
  }
}

CoreCluster::~CoreCluster() { plane_.store().Unsubscribe(subscription_); }

base::Result<std::unique_ptr<CoreCluster>> CoreCluster::Make(const CoreClusterOptions& options) {
  std::unique_ptr<CoreCluster> cluster(new CoreCluster(options));
  auto scheduler = core::Scheduler::Make(options.scheduler, cluster->clock_, cluster->metrics_);
  if (!scheduler) return std::unexpected(std::move(scheduler.error()));
  cluster->scheduler_ = *std::move(scheduler);
  return cluster;
}

void CoreCluster::StartScheduler() {
  has_started_ = true;
  // It sees the whole state before it decides anything.
  for (const auto& watch : watches_) watch->TakeDue(clock_.Now(), inputs_);
  Step();
}

void CoreCluster::Step() {
  core::Outputs outputs;
  const std::vector<core::Input> inputs = std::exchange(inputs_, {});
  const base::Duration before = options_.processor_time();
  scheduler_->Step(inputs, outputs);
  const base::Duration cost =
      std::max(options_.processor_time() - before - options_.reading_cost, base::Duration(0));
  usage_.cpu += cost;
  ++usage_.steps;
  clock_.Advance(std::max(cost, kStepMin));
  for (core::ApiCall& call : outputs.calls) calls_.Start(std::move(call));
  for (cycle::StartedWrite& write : outputs.writes) writes_.Start(std::move(write));
  writes_.Run();
}

base::TimePoint CoreCluster::NextTime() const {
  const base::TimePoint now = clock_.Now();
  if (!has_started_) return std::max(now, plane_.NextDeadline().value_or(base::TimePoint::max()));
  if (!inputs_.empty() || scheduler_->HasWork()) return now;
  base::TimePoint next = base::TimePoint::max();
  const auto consider = [&](std::optional<base::TimePoint> time) {
    if (time) next = std::min(next, *time);
  };
  consider(timers_.NextDeadline());
  consider(writes_.NextDeadline());
  consider(plane_.NextDeadline());
  consider(scheduler_->NextDeadline());
  for (const auto& watch : watches_) consider(watch->NextDeadline());
  return std::max(next, now);
}

void CoreCluster::RunUntil(base::TimePoint end) {
  while (clock_.Now() < end) {
    const base::TimePoint next = NextTime();
    if (next >= end) {
      clock_.SetTo(end);
      return;
    }
    clock_.SetTo(next);
    plane_.RunDue();
    if (!has_started_) continue;
    timers_.RunDue(next);
    writes_.Run();
    for (const auto& watch : watches_) watch->TakeDue(next, inputs_);
    const auto deadline = scheduler_->NextDeadline();
    if (!inputs_.empty() || scheduler_->HasWork() || (deadline && *deadline <= next)) Step();
  }
}

void CoreCluster::OnChange(const sandbox::Change& change, sandbox::ChangeFrames&) {
  if (observer_ == nullptr) return;
  const sandbox::Revision& pod = *change.object;
  observer_->OnPod({.namespace_name = pod.namespace_name(),
                    .name = pod.name(),
                    .labels = pod.labels(),
                    .is_gone = change.type == wire::WatchType::kDeleted,
                    .is_bound = !pod.field(0).empty()});
}

void CoreCluster::Complete(const sandbox::Target& target, json::object& document) {
  document["apiVersion"] = target.resource->api_version;
  document["kind"] = target.resource->kind;
  if (target.resource->kind == "Node") FillAllocatable(document);
  if (target.resource->kind != "Pod") return;
  if (auto priority = priorities_.Prepare(document)) {
    const sandbox::Target classes{.resource = &sandbox::ResourceOf("scheduling.k8s.io/v1", "PriorityClass")};
    static_cast<void>(plane_.writer().Create(classes, *std::move(priority)));
  }
}

sandbox::ApiResult<std::string> CoreCluster::Create(const sandbox::Target& target, json::object document) {
  Complete(target, document);
  const auto created = plane_.writer().Create(target, std::move(document));
  if (!created) return sandbox::Refuse(created.error());
  return std::string((*created)->name());
}

sandbox::ApiResult<void> CoreCluster::Update(const sandbox::Target& target, json::object document) {
  Complete(target, document);
  return WithoutValue(plane_.writer().Update(target, std::move(document)));
}

sandbox::ApiResult<void> CoreCluster::MergePatch(const sandbox::Target& target, const json::object& patch) {
  const std::string body = wire::WriteJson(patch);
  return WithoutValue(plane_.writer().Change(target, [&](const json::object& current) {
    return sandbox::ApplyPatch(*target.resource, {.type = sandbox::PatchType::kMerge, .body = body}, current);
  }));
}

sandbox::ApiResult<void> CoreCluster::Delete(const sandbox::Target& target,
                                             std::optional<std::int64_t> grace_seconds) {
  return WithoutValue(plane_.writer().Delete(target, {.grace_seconds = grace_seconds}));
}

std::optional<json::object> CoreCluster::Get(const sandbox::Target& target) {
  const auto found = plane_.writer().Get(target);
  if (!found) return std::nullopt;
  return (*found)->Document();
}

std::vector<std::string> CoreCluster::NodeNames() {
  std::vector<std::string> names;
  const auto page = plane_.store().List(sandbox::Selection(sandbox::ResourceOf("v1", "Node")));
  if (!page) return names;
  for (const sandbox::RevisionPtr& node : page->items) names.emplace_back(node->name());
  return names;
}

void CoreCluster::WriteSoon(std::vector<Write> writes, WriteCallback done) {
  for (Write& write : writes) {
    const sandbox::ApiResult<void> made = write.verb == Write::Verb::kCreate
                                              ? WithoutValue(Create(write.target, std::move(write.document)))
                                              : Update(write.target, std::move(write.document));
    if (!made) return done(&write, made.error());
  }
  done(nullptr, {});
}

bool CoreCluster::IsAttempted(const std::string& namespace_name, const std::string& name) {
  const auto pod =
      Get({.resource = &sandbox::ResourceOf("v1", "Pod"), .namespace_name = namespace_name, .name = name});
  const json::array* const conditions = pod ? sandbox::FindArray(*pod, {"status", "conditions"}) : nullptr;
  return conditions != nullptr && std::ranges::any_of(*conditions, [](const json::value& condition) {
           return condition.is_object() && sandbox::TextAt(condition.as_object(), {"type"}) == "PodScheduled";
         });
}

std::int64_t CoreCluster::PeakMemory() const { return PeakMemoryOf(::getpid()); }

void CoreCluster::ResetPeakMemory() { ResetPeakMemoryOf(::getpid()); }

}  // namespace berth::bench
