#include "bench/core_cluster.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <string>
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

// What an API server fills in whenever it reads a node; the sandbox does so for a new one only.
void FillAllocatable(json::object& node) {
  const json::object* const capacity = sandbox::FindObject(node, {"status", "capacity"});
  if (capacity == nullptr || sandbox::FindObject(node, {"status", "allocatable"}) != nullptr) return;
  json::object amounts = *capacity;
  sandbox::ObjectAt(node, {"status"})["allocatable"] = std::move(amounts);
}

template <class T>
sandbox::ApiResult<void> WithoutValue(const sandbox::ApiResult<T>& result) {
  if (!result) return sandbox::Refuse(result.error());
  return {};
}

}  // namespace

base::Duration ThreadProcessorTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

base::Duration ThreadProcessorTimeCost() {
  constexpr int kReadings = 1000;
  base::Duration least = base::Duration::max();
  base::Duration last = ThreadProcessorTime();
  for (int i = 0; i < kReadings; ++i) {
    const base::Duration now = ThreadProcessorTime();
    least = std::min(least, now - last);
    last = now;
  }
  return least;
}

std::int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

CoreCluster::CoreCluster(const CoreClusterOptions& options)
    : options_(options),
      clock_(base::TimePoint(), kStart),
      plane_(clock_, {.store = {}, .api = {}, .seed = options.seed}),
      calls_(
          plane_, timers_, [this](core::CallFinished finished) { inputs_.push_back(std::move(finished)); },
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
  for (const cycle::StartedWrite& write : outputs.writes) {
    inputs_.push_back(core::WriteFinished{write.id, base::Fail("there is no server for this write")});
  }
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

void CoreCluster::GiveItAClass(json::object& pod) {
  const auto priority = sandbox::FindNumber(pod, {"spec", "priority"});
  if (!priority || *priority == 0 || !sandbox::TextAt(pod, {"spec", "priorityClassName"}).empty()) return;
  const std::string name = fmt::format("priority-{}{}", *priority < 0 ? "minus-" : "", std::abs(*priority));
  if (priorities_.insert(*priority).second) {
    const sandbox::Target target{.resource = &sandbox::ResourceOf("scheduling.k8s.io/v1", "PriorityClass")};
    static_cast<void>(plane_.writer().Create(target, {{"apiVersion", "scheduling.k8s.io/v1"},
                                                      {"kind", "PriorityClass"},
                                                      {"metadata", json::object{{"name", name}}},
                                                      {"value", *priority}}));
  }
  sandbox::ObjectAt(pod, {"spec"})["priorityClassName"] = name;
}

sandbox::ApiResult<std::string> CoreCluster::Create(const sandbox::Target& target, json::object document) {
  document["apiVersion"] = target.resource->api_version;
  document["kind"] = target.resource->kind;
  if (target.resource->kind == "Pod") GiveItAClass(document);
  const auto created = plane_.writer().Create(target, std::move(document));
  if (!created) return sandbox::Refuse(created.error());
  return std::string((*created)->name());
}

sandbox::ApiResult<void> CoreCluster::Update(const sandbox::Target& target, json::object document) {
  document["apiVersion"] = target.resource->api_version;
  document["kind"] = target.resource->kind;
  if (target.resource->kind == "Node") FillAllocatable(document);
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

}  // namespace berth::bench
