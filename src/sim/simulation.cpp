#include "sim/simulation.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <utility>
#include <variant>

#include "base/check.h"
#include "shell/watched_objects.h"

namespace berth::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Long enough for the longest backoff after the last event, and much shorter than the flush that would wake
// every pod whatever happened: a pod that only the flush would find has been forgotten.
constexpr base::Duration kConvergence = minutes(2);
// More steps at one time than any run needs.
constexpr int kStepsAtOnce = 20'000;
constexpr int kEncores = 12;

Workload::Size DrawSize(base::Random random) {
  return {.nodes = 2 + static_cast<int>(random.Uniform(8)), .pods = 5 + static_cast<int>(random.Uniform(50))};
}

Faults DrawFaults(base::Random random) {
  Faults faults;
  faults.watch_delay_max = milliseconds(1 + random.Uniform(random.Chance(0.2) ? 5000 : 100));
  faults.call_delay_max = milliseconds(1 + random.Uniform(random.Chance(0.2) ? 5000 : 100));
  if (random.Chance(0.5)) faults.call_refused = random.UniformReal() * 0.3;
  if (random.Chance(0.5)) faults.watch_cut = random.UniformReal() * 0.1;
  faults.relist = random.UniformReal();
  if (random.Chance(0.4)) faults.restart = random.UniformReal() * 0.05;
  if (random.Chance(0.4)) faults.pause = random.UniformReal() * 0.05;
  if (random.Chance(0.3)) faults.answer_lost = random.UniformReal() * 0.2;
  faults.has_extender = random.Chance(0.25);
  faults.extender_is_ignorable = random.Chance(0.3);
  faults.extender_delay_max = milliseconds(1 + random.Uniform(random.Chance(0.3) ? 5000 : 50));
  if (random.Chance(0.5)) faults.extender_fails = random.UniformReal() * 0.5;
  return faults;
}

// What a write of a plugin is about.
struct WrittenObject {
  std::string operator()(const framework::ReserveVolume& write) const {
    return fmt::format("{} for {}", write.volume->metadata.name, write.claim->metadata.name);
  }
  std::string operator()(const framework::SelectVolumeNode& write) const {
    return fmt::format("{} of {}", write.node, write.claim->metadata.name);
  }
  std::string operator()(const framework::BindClaim& write) const {
    return fmt::format("{} for {}", write.claim->metadata.name, write.consumer.name);
  }
  std::string operator()(const framework::UnreserveClaim& write) const { return write.claim.name; }
  std::string operator()(const framework::SetExtendedResourceClaim& write) const { return write.pod->name; }
  std::string operator()(const auto& write) const { return write.claim->metadata.name; }
};

core::SchedulerOptions SchedulerOptionsFor(const Faults& faults) {
  core::SchedulerOptions options;
  if (faults.has_extender) options.extenders.push_back(ExtenderLink::Spec(faults.extender_is_ignorable));
  options.engine.verify_views = true;
  // A process has such limits, too; these are small enough for a small cluster to meet them.
  options.calls_in_flight_max = 4;
  options.calls_in_flight_most = 16;
  options.calls_waiting_max = 8;
  return options;
}

}  // namespace

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      random_(options.seed),
      size_(DrawSize(random_.Split())),
      faults_(DrawFaults(random_.Split())),
      plane_(clock_, {.store = {}, .api = {}, .seed = random_.Next()}),
      kubelet_(plane_, {.start = milliseconds(300), .stop = seconds(1), .heartbeat = std::chrono::hours(24)}),
      calls_(
          plane_, timers_, [this](core::CallFinished finished) { inputs_.push_back(std::move(finished)); },
          random_.Split()),
      // Draws of its own, so that runs without writes are what they were.
      writes_(
          plane_, [this](core::WriteFinished finished) { inputs_.push_back(std::move(finished)); },
          base::Random(~options.seed)),
      workload_(plane_, size_, random_.Split()),
      extender_(
          plane_, timers_,
          [this](core::ExtenderFinished finished) { inputs_.push_back(std::move(finished)); },
          random_.Split()) {
  if (options.story != nullptr) {
    story_.emplace(plane_, *options.story);
    calls_.SetStory(*story_);
    writes_.SetStory(*story_);
  }
  if (options.has_worlds) worlds_.emplace(plane_, size_.nodes, options.seed);
  for (const client::Resource resource : shell::WatchedResources()) {
    watches_.push_back(std::make_unique<WatchLink>(plane_, resource, shared_));
    watches_.back()->SetDelay(faults_.watch_delay_max, random_.Split());
  }
  calls_.SetFaults(faults_);
  extender_.SetFaults(faults_);
  writes_.SetFaults(faults_);
  result_.setting = fmt::format(
      "{} nodes, {} pods, watches late by {} ms, calls by {} ms, {:.2f} refused, {:.2f} cut, {:.2f} relist, "
      "{:.2f} restart, {:.2f} pause, {:.2f} answers lost, {}",
      size_.nodes, size_.pods, faults_.watch_delay_max / milliseconds(1),
      faults_.call_delay_max / milliseconds(1), faults_.call_refused, faults_.watch_cut, faults_.relist,
      faults_.restart, faults_.pause, faults_.answer_lost,
      faults_.has_extender ? fmt::format("an extender late by {} ms that fails {:.2f} times",
                                         faults_.extender_delay_max / milliseconds(1), faults_.extender_fails)
                           : "no extender");
  if (worlds_) result_.setting += worlds_->Describe();
}

SimulationResult Simulation::Run() {
  workload_.Begin();
  if (worlds_) worlds_->Begin();
  StartScheduler();
  for (int action = 0; action < options_.actions && !has_failed(); ++action) {
    workload_.Act();
    if (worlds_) worlds_->Act();
    Misbehave();
    RunFor(UpTo(random_.Chance(0.1) ? seconds(20) : milliseconds(500)));
    CheckNothingOvercommitted(plane_.store(), result_.violations);
    if (faults_.has_extender && !faults_.extender_is_ignorable) {
      CheckOpinionHeeded(plane_.store(), &ExtenderLink::Likes, result_.violations);
    }
    if (worlds_) worlds_->Check(result_.violations);
  }
  EndFaults();
  RunFor(kConvergence);
  CheckAtRest();
  result_.bound = calls_.bound_count();
  result_.questions = extender_.asked_count();
  result_.kept_places = kept_places_.kept_count();
  result_.trace = calls_.trace() ^ writes_.trace() ^ scheduler_->cluster().Digest();
  if (worlds_) {
    result_.volumes_bound = worlds_->volumes_bound();
    result_.claims_allocated = worlds_->claims_allocated();
  }
  result_.objects = workload_.Describe();
  workload_.DeleteAllPods();
  RunFor(kConvergence);
  if (!has_failed()) {
    CheckNothingIsLeft(*scheduler_, result_.violations);
    if (worlds_) worlds_->CheckNothingIsHeld(result_.violations);
  }
  if (faults_.has_extender) PlayEncores();
  return result_;
}

void Simulation::CheckAtRest() {
  if (has_failed()) return;
  CheckNothingOvercommitted(plane_.store(), result_.violations);
  if (worlds_) worlds_->Check(result_.violations);
  CheckNominations(*scheduler_, result_.violations);
  CheckNobodySleeps();
  CheckNobodyCouldEvict(
      *scheduler_,
      [&](const api::PodRecord& pod, std::string_view node) {
        return !faults_.has_extender || ExtenderLink::Likes(pod, node);
      },
      result_.violations);
}

// What happens while a pod is thought about is lost on it only if nothing later wakes it: where there are
// others, something always does. Here it is alone, the only open node is one that the extender is going to
// refuse, and another one opens while it thinks. That the pod says why it waits would wake it too, so some of
// that is not written.
void Simulation::PlayEncores() {
  Faults slow;
  slow.extender_delay_max = seconds(2);
  extender_.SetFaults(slow);
  Faults rude;
  rude.call_refused = 0.7;
  for (int encore = 0; encore < kEncores && !has_failed(); ++encore) {
    const std::vector<std::string> nodes = workload_.NodeNames();
    const std::string& refused = nodes[random_.Uniform(nodes.size())];
    const std::string& opened = nodes[random_.Uniform(nodes.size())];
    const std::string app = fmt::format("app-{}", random_.Uniform(5));
    if (ExtenderLink::LikesApp(app, refused) || !ExtenderLink::LikesApp(app, opened)) continue;
    workload_.CloseAllBut(refused);
    RunFor(seconds(1));
    calls_.SetFaults(rude);
    workload_.CreatePlainPod(app);
    RunFor(UpTo(milliseconds(500)));
    workload_.OpenNode(opened);
    RunFor(seconds(5));
    calls_.SetFaults(Faults::None());
    RunFor(kConvergence);
    CheckAtRest();
    workload_.DeleteAllPods();
    RunFor(seconds(10));
  }
}

void Simulation::StartScheduler() {
  inputs_.clear();
  kept_places_.Clear();
  scheduler_.reset();
  metrics_ = std::make_unique<base::MetricRegistry>();
  auto made = core::Scheduler::Make(SchedulerOptionsFor(faults_), clock_, *metrics_);
  BERTH_CHECK(made.has_value());
  scheduler_ = *std::move(made);
  for (const auto& watch : watches_) watch->Restart();
  calls_.Restart();
  extender_.Restart();
  writes_.Restart();
  // It sees the whole state before it decides anything.
  for (const auto& watch : watches_) watch->TakeDue(clock_.Now(), inputs_);
  StepScheduler();
  scheduler_->SetDeciding(true);
}

base::Duration Simulation::UpTo(base::Duration max) {
  return base::Duration(random_.Uniform(static_cast<std::uint64_t>(max.count()) + 1));
}

void Simulation::Misbehave() {
  if (random_.Chance(faults_.watch_cut)) {
    WatchLink& watch = *watches_[random_.Uniform(watches_.size())];
    const bool relist = random_.Chance(faults_.relist);
    if (!watch.is_cut()) {
      watch.Cut();
      timers_.Schedule(clock_.Now() + UpTo(seconds(30)), [&watch, relist] { watch.Heal(relist); });
    }
  }
  if (random_.Chance(faults_.pause)) paused_until_ = clock_.Now() + UpTo(seconds(30));
  if (random_.Chance(faults_.restart)) {
    ++result_.restarts;
    if (story_) story_->Tell("the scheduler starts anew");
    StartScheduler();
  }
}

void Simulation::EndFaults() {
  Faults calm;
  calls_.SetFaults(calm);
  extender_.SetFaults(calm);
  writes_.SetFaults(calm);
  if (worlds_) worlds_->EndFaults();
  paused_until_ = clock_.Now();
  for (const auto& watch : watches_) {
    if (watch->is_cut()) watch->Heal(/*relist=*/false);
    watch->SetDelay(calm.watch_delay_max, random_.Split());
  }
  workload_.OpenGates();
}

base::TimePoint Simulation::NextTime(base::TimePoint end) const {
  base::TimePoint next = end;
  const auto consider = [&](std::optional<base::TimePoint> time) {
    if (time) next = std::min(next, *time);
  };
  consider(timers_.NextDeadline());
  consider(plane_.NextDeadline());
  consider(writes_.NextDeadline());
  base::TimePoint scheduler_next = end;
  if (!inputs_.empty() || scheduler_->HasWork()) scheduler_next = clock_.Now();
  if (const auto deadline = scheduler_->NextDeadline()) scheduler_next = std::min(scheduler_next, *deadline);
  for (const auto& watch : watches_) {
    if (const auto deadline = watch->NextDeadline()) scheduler_next = std::min(scheduler_next, *deadline);
  }
  consider(std::max(scheduler_next, paused_until_));
  return std::max(next, clock_.Now());
}

bool Simulation::IsSchedulerDue() const {
  if (clock_.Now() < paused_until_) return false;
  if (!inputs_.empty() || scheduler_->HasWork()) return true;
  const auto deadline = scheduler_->NextDeadline();
  return deadline && *deadline <= clock_.Now();
}

void Simulation::RunFor(base::Duration duration) {
  const base::TimePoint end = clock_.Now() + duration;
  int steps_at_once = 0;
  while (!has_failed()) {
    const base::TimePoint next = NextTime(end);
    if (next >= end) break;
    steps_at_once = next > clock_.Now() ? 0 : steps_at_once + 1;
    if (steps_at_once > kStepsAtOnce) {
      result_.violations.push_back(fmt::format("at {} s the scheduler does not come to rest",
                                               clock_.Now().time_since_epoch() / seconds(1)));
      return;
    }
    clock_.SetTo(next);
    plane_.RunDue();
    timers_.RunDue(next);
    writes_.RunDue();
    if (clock_.Now() >= paused_until_) {
      for (const auto& watch : watches_) watch->TakeDue(next, inputs_);
    }
    if (IsSchedulerDue()) StepScheduler();
  }
  if (!has_failed()) clock_.SetTo(end);
}

void Simulation::StepScheduler() {
  core::Outputs outputs;
  const std::vector<core::Input> inputs = std::exchange(inputs_, {});
  for (const core::Input& input : inputs) {
    if (const auto* const finished = std::get_if<core::CallFinished>(&input)) {
      kept_places_.Answered(finished->id);
    }
  }
  scheduler_->Step(inputs, outputs);
  kept_places_.Look(*scheduler_, outputs.calls, result_.violations);
  for (const cycle::PodEvent& event : outputs.events) {
    if (story_) story_->Tell(fmt::format("{} {}: {}", event.reason, event.pod->name, event.note));
  }
  for (core::ApiCall& call : outputs.calls) calls_.Start(std::move(call));
  for (cycle::ExtenderCall& call : outputs.questions) extender_.Ask(std::move(call));
  for (cycle::StartedWrite& write : outputs.writes) writes_.Start(std::move(write));
  writes_.RunDue();
  CheckEveryPodHasOnePlace(*scheduler_, result_.violations);
}

void Simulation::CheckNobodySleeps() {
  base::MetricRegistry metrics;
  auto fresh = core::Scheduler::Make(SchedulerOptionsFor(faults_), clock_, metrics);
  BERTH_CHECK(fresh.has_value());
  std::vector<core::Input> inputs;
  for (const client::Resource resource : shell::WatchedResources()) {
    WatchLink(plane_, resource, shared_).TakeDue(clock_.Now(), inputs);
  }
  (*fresh)->SetDeciding(true);
  core::Outputs outputs;
  (*fresh)->Step(inputs, outputs);
  while ((*fresh)->HasWork() || !outputs.questions.empty()) {
    inputs.clear();
    for (const cycle::ExtenderCall& call : std::exchange(outputs.questions, {})) {
      inputs.push_back(core::ExtenderFinished{call.id, ExtenderLink::Answer(call)});
    }
    (*fresh)->Step(inputs, outputs);
  }
  for (const cycle::StartedWrite& write : outputs.writes) {
    result_.violations.push_back(
        fmt::format("{} could be written and is not", std::visit(WrittenObject(), write.write)));
  }
  for (const core::ApiCall& call : outputs.calls) {
    if (call.type != dispatch::CallType::kPodBinding) continue;
    result_.violations.push_back(fmt::format("{} fits on {} and waits, refused by [{}]", call.pod->name,
                                             call.node, fmt::join(RejectorsOf(call.pod->uid), ", ")));
  }
}

std::vector<std::string_view> Simulation::RejectorsOf(std::string_view uid) const {
  std::vector<std::string_view> names;
  const queue::SchedulingQueue& queue = scheduler_->queue();
  const cluster::PodSlot slot = scheduler_->cluster().pods().Find(uid);
  const queue::QueueingParams* const params = slot.IsValid() ? queue.Find(slot) : nullptr;
  if (params == nullptr) return names;
  params->rejectors().ForEach([&](queue::PluginId plugin) { names.push_back(queue.plugins().Get(plugin)); });
  return names;
}

SimulationResult Simulate(const SimulationOptions& options) { return Simulation(options).Run(); }

}  // namespace berth::sim
