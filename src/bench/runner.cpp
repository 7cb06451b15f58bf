#include "bench/runner.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "bench/field_reader.h"
#include "plugins/node_declared_features.h"
#include "sandbox/document.h"

namespace berth::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::Duration kWorkloadMax = minutes(30);

// Many racks are tried for each gang, so upstream gives those workloads more time.
base::Duration SchedulingTimeout(std::string_view topic) {
  return topic == "tas" ? minutes(20) : minutes(10);
}

}  // namespace

Runner::Runner(const WorkloadFile& file, const TestCase& test_case, const Workload& workload,
               TestCluster& cluster, RunOptions options)
    : file_(file),
      test_case_(test_case),
      workload_(workload),
      cluster_(cluster),
      options_(std::move(options)),
      clock_(cluster, options_.requests_per_second),
      ledger_(cluster.clock()),
      nodes_(cluster, clock_, base::Random(options_.seed), [this] { return MayGoOn(); }),
      params_(workload.params) {
  cluster_.SetPodObserver(&ledger_);
  ledger_.AddListener(
      [this](std::string_view namespace_name, std::string_view name, const PodLedger::Entry& pod) {
        if (collection_) collection_->OnBound(namespace_name, pod);
        if (namespace_name == steady_namespace_) newly_bound_.emplace_back(name);
      });
}

Runner::~Runner() { cluster_.SetPodObserver(nullptr); }

RunResults Runner::Run() {
  if (auto run = RunAll(); !run) {
    results_.failures.push_back(std::move(run.error().message));
    // What was seen until then is worth something, too; it says itself how many pods that were.
    if (collection_ && options_.is_interrupted()) FinishCollection(/*is_whole=*/false);
  }
  clock_.CancelAll();
  return std::move(results_);
}

Runner::Done Runner::RunAll() {
  // All parameters are looked at before the first operation runs.
  const auto operations = Unroll(test_case_.operations, params_);
  if (!operations) return std::unexpected(operations.error());
  const auto features = MadeUpNodeFeatures(file_, workload_, params_);
  if (!features) return std::unexpected(features.error());
  nodes_.Declare(plugins::MadeUpFeatureNames(*features));
  if (!options_.precreate) EnsureScheduler();
  const base::TimePoint end = clock_.Now() + kWorkloadMax;
  for (op_index_ = 0; op_index_ < operations->size(); ++op_index_) {
    if (auto may = MayGoOn(); !may) return may;
    const Operation& operation = (*operations)[op_index_];
    place_ = operation.place;
    const auto done = std::visit([&](const auto& action) { return Do(action); }, operation.action);
    if (!done) return base::Fail(fmt::format("{}: {}", place_, done.error().message));
    if (clock_.Now() >= end) return base::Fail(place_ + ": the workload ran for 30 minutes");
  }
  if (const auto unused = params_.Unused(); !unused.empty()) {
    return FailIn("params",
                  fmt::format("the parameters [{}] are defined on workload {}, but unused.\nPlease make "
                              "sure there are no typos",
                              fmt::join(unused, " "), workload_.name));
  }
  return {};
}

void Runner::EnsureScheduler() {
  if (!std::exchange(has_scheduler_, true)) cluster_.StartScheduler();
}

std::string Runner::DefaultNamespace() const { return fmt::format("namespace-{}", op_index_); }

Runner::Done Runner::Do(const CreateNodes& op) { return nodes_.Create(op, file_.folder(), op_index_); }

Runner::Done Runner::Do(const CreatePods& op) {
  const std::string namespace_name = op.namespace_name.value_or(DefaultNamespace());
  if (auto ensured = EnsureNamespace(namespace_name); !ensured) return ensured;
  const auto maker = PodMaker::Make(op, file_.folder(), test_case_.pod_template_path);
  if (!maker) return std::unexpected(maker.error());
  if (op.collect_metrics) {
    auto started = StartCollection({.name = namespace_name, .namespaces = {namespace_name}, .labels = {}});
    if (!started) return FailIn("collectMetrics", started.error().message);
  }
  const std::int64_t count = op.count.number();
  const std::size_t gone_before = ledger_.CountGone(namespace_name);
  if (op.steady_state) {
    if (auto done = CreateSteadily(op, *maker, namespace_name); !done) return done;
  } else {
    if (auto created = CreateAll(*maker, namespace_name, count); !created) return created;
    if (op.skip_wait) {
      unwaited_[namespace_name] += static_cast<std::size_t>(count);
    } else {
      auto waited = AwaitScheduled(namespace_name, {}, {static_cast<std::size_t>(count), gone_before},
                                   SchedulingTimeout(file_.topic));
      if (!waited) {
        return base::Fail("error in waiting for pods to get scheduled: " + waited.error().message);
      }
    }
  }
  if (op.collect_metrics) FinishCollection();
  return {};
}

Runner::Done Runner::CreateAll(const PodMaker& maker, const std::string& namespace_name, std::int64_t count) {
  // Upstream's workers finish what they have begun before the operation fails. What is told after this
  // operation was interrupted is nobody's business.
  auto failed = std::make_shared<Done>();
  for (std::int64_t index = 0; index < count; ++index) {
    auto writes = maker.Writes(clock_, namespace_name, index, count);
    if (!writes) return std::unexpected(std::move(writes.error()));
    cluster_.WriteSoon(*std::move(writes), PodMaker::KeepFirst(failed));
    if (auto may = MayGoOn(); !may) return may;
  }
  cluster_.Settle();
  return *failed;
}

Runner::Done Runner::MayGoOn() {
  if (options_.is_interrupted()) return base::Fail("interrupted");
  if (std::string problem = cluster_.Problem(); !problem.empty()) return base::Fail(std::move(problem));
  return {};
}

Runner::Done Runner::CreateSteadily(const CreatePods& op, const PodMaker& maker,
                                    const std::string& namespace_name) {
  const base::TimePoint end = clock_.Now() + op.duration;
  newly_bound_.clear();
  steady_namespace_ = namespace_name;
  std::size_t bound_count = 0;
  if (auto created = CreateAll(maker, namespace_name, op.count.number()); !created) {
    return base::Fail(fmt::format("create initial {} pods: {}", op.count.number(), created.error().message));
  }
  EnsureScheduler();
  while (clock_.Now() < end) {
    if (auto may = MayGoOn(); !may) return may;
    if (newly_bound_.empty()) {
      clock_.LetPass(std::chrono::microseconds(100));
      continue;
    }
    for (const std::string& name : std::exchange(newly_bound_, {})) {
      ++bound_count;
      clock_.AwaitTurn();
      const sandbox::Target pod{
          .resource = &sandbox::ResourceOf("v1", "Pod"), .namespace_name = namespace_name, .name = name};
      if (const auto deleted = cluster_.Delete(pod, 0); !deleted) {
        return FailRequest("", "delete scheduled pod", deleted.error());
      }
      auto again = maker.Writes(clock_, namespace_name, 0, 1);
      if (!again) return std::unexpected(std::move(again.error()));
      auto failed = std::make_shared<Done>();
      cluster_.WriteSoon(*std::move(again), PodMaker::KeepFirst(failed));
      cluster_.Settle();
      if (!*failed) return *failed;
    }
  }
  steady_namespace_.clear();
  if (bound_count == 0) {
    return base::Fail(
        "no pod at all got scheduled, either because of a problem or because the test interval "
        "was too small");
  }
  return {};
}

Runner::Done Runner::Do(const CreatePodSets&) {
  return base::Fail("sets of pods are unrolled before they run");
}

Runner::Done Runner::Do(const Barrier& op) {
  for (const std::string& name : op.namespaces) {
    if (!unwaited_.contains(name)) return FailIn("namespaces", "unknown namespace " + name);
  }
  std::map<std::string, std::size_t> waited_for;
  for (const auto& [name, count] : unwaited_) {
    if (op.namespaces.empty() || std::ranges::find(op.namespaces, name) != op.namespaces.end()) {
      waited_for.emplace(name, count);
    }
  }
  for (const auto& [name, count] : waited_for) {
    auto waited = op.attempted_suffices ? AwaitAttempted(name, op.labels, count)
                                        : AwaitScheduled(name, op.labels, {count}, minutes(10));
    if (!waited) {
      return base::Fail(
          fmt::format("error waiting for pods in namespace \"{}\": {}", name, waited.error().message));
    }
    if (!op.attempted_suffices) unwaited_.erase(name);
  }
  return {};
}

Runner::Done Runner::Do(const Sleep& op) {
  EnsureScheduler();
  // In parts, so that it can be interrupted.
  const base::TimePoint end = clock_.Now() + op.duration;
  while (clock_.Now() < end) {
    if (auto may = MayGoOn(); !may) return may;
    clock_.LetPass(std::min<base::Duration>(end - clock_.Now(), seconds(1)));
  }
  return {};
}

Runner::Done Runner::Await(base::Duration timeout, const std::function<bool()>& holds,
                           const std::function<std::string()>& what_is_missing) {
  if (!holds()) EnsureScheduler();
  bool held = false;
  clock_.Poll(seconds(1), timeout, [&] { return (held = holds()) || !MayGoOn(); });
  if (held) return {};
  if (auto may = MayGoOn(); !may) return may;
  const std::string missing = what_is_missing();
  return base::Fail(missing.empty() ? "context deadline exceeded" : missing + ": context deadline exceeded");
}

// A scheduler that is put off must not start for pods that are bound already and have not been seen yet: what
// its start costs would be over before anything is measured.
void Runner::AwaitSeen(const std::string& namespace_name, std::size_t count, base::Duration timeout) {
  if (has_scheduler_) return;
  clock_.Poll(milliseconds(10), timeout,
              [&] { return ledger_.pods(namespace_name).size() >= count || !MayGoOn(); });
}

Runner::Done Runner::AwaitScheduled(const std::string& namespace_name, const LabelSet& labels, Wanted wanted,
                                    base::Duration timeout) {
  AwaitSeen(namespace_name, wanted.count, timeout);
  const auto holds = [&] {
    std::size_t scheduled = ledger_.CountBound(namespace_name, labels);
    if (wanted.gone_before) scheduled += ledger_.CountGone(namespace_name) - *wanted.gone_before;
    return scheduled >= wanted.count;
  };
  return Await(timeout, holds, [&] {
    for (const auto& [name, pod] : ledger_.pods(namespace_name)) {
      if (!pod.bound && HasLabels(pod.labels, labels)) {
        return fmt::format("at least pod {}/{} is not scheduled", namespace_name, name);
      }
    }
    return std::string();
  });
}

Runner::Done Runner::AwaitAttempted(const std::string& namespace_name, const LabelSet& labels,
                                    std::size_t count) {
  std::string unattempted;
  const auto holds = [&] {
    unattempted.clear();
    std::size_t attempted = 0;
    for (const auto& [name, pod] : ledger_.pods(namespace_name)) {
      if (attempted >= count) break;
      if (!HasLabels(pod.labels, labels)) continue;
      if (pod.bound || cluster_.IsAttempted(namespace_name, name)) {
        ++attempted;
      } else if (unattempted.empty()) {
        unattempted = name;
      }
    }
    return attempted >= count;
  };
  return Await(minutes(10), holds, [&] {
    return unattempted.empty()
               ? std::string()
               : fmt::format("at least pod {}/{} is not attempted", namespace_name, unattempted);
  });
}

Runner::Done Runner::StartCollection(Collection::Scope scope) {
  if (collection_) {
    return base::Fail(
        "metrics collection is overlapping. Probably second collector was started before stopping "
        "a previous one");
  }
  collection_ = std::make_unique<Collection>(std::move(scope), ledger_, cluster_);
  clock_.Every(seconds(1), [this, started = collection_.get()] {
    if (collection_.get() != started) return false;
    collection_->Tick();
    options_.on_progress(collection_->seen_bound());
    return true;
  });
  return {};
}

void Runner::FinishCollection(bool is_whole) {
  Collection::Results collected = collection_->Finish(path());
  collection_.reset();
  if (options_.check_thresholds && is_whole) {
    const double threshold = workload_.threshold.For(file_.topic);
    for (const std::string& failure : CheckThreshold(threshold, workload_.selector, collected.items)) {
      results_.failures.push_back(fmt::format("{}: {}", place_, failure));
    }
  }
  results_.measurements.push_back(std::move(collected.measurement));
  std::ranges::move(collected.items, std::back_inserter(results_.items));
}

Runner::Done Runner::Do(const StartCollectingMetrics& op) {
  return StartCollection({.name = op.name, .namespaces = op.namespaces, .labels = op.labels});
}

Runner::Done Runner::Do(const StopCollectingMetrics&) {
  if (!collection_) return base::Fail("missing startCollectingMetrics operation before stopping");
  FinishCollection();
  return {};
}

// A profile is taken from outside: perf record, with the command that runs the workload.
Runner::Done Runner::Do(const StartCollectingProfile&) { return {}; }
Runner::Done Runner::Do(const StopCollectingProfile&) { return {}; }

}  // namespace berth::bench
