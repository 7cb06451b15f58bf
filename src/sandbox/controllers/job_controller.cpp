#include "sandbox/controllers/job_controller.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>
#include <optional>

#include "sandbox/conditions.h"
#include "sandbox/document.h"
#include "sandbox/finalizers.h"
#include "sandbox/text_parts.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kJobComponent = "job-controller";
constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";
constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";
constexpr std::int64_t kBackoffSeconds = 10;
constexpr std::int64_t kBackoffSecondsMax = 600;
constexpr std::int64_t kIndexesMax = 100'000;
constexpr std::int64_t kJobBurst = 500;

std::optional<std::int64_t> IndexOf(const json::object& pod) {
  const std::string_view text = TextAt(pod, {"metadata", "annotations", kIndex});
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

bool IsFinished(const json::object& job) {
  return HasTrueCondition(job, "Complete") || HasTrueCondition(job, "Failed");
}

}  // namespace

std::string FormatIndexes(const std::set<std::int64_t>& indexes) {
  std::string text;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const std::int64_t first = *it;
    std::int64_t last = first;
    while (++it != indexes.end() && *it == last + 1) last = *it;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return text;
}

std::set<std::int64_t> ParseIndexes(std::string_view text) {
  std::set<std::int64_t> indexes;
  for (const std::string_view part : SplitText(text, ',')) {
    std::int64_t first = 0;
    const char* end = part.data() + part.size();
    const auto [dash, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc()) continue;
    std::int64_t last = first;
    if (dash != end && std::from_chars(dash + 1, end, last).ec != std::errc()) continue;
    for (std::int64_t i = first; i <= std::min(last, kIndexesMax); ++i) indexes.insert(i);
  }
  return indexes;
}

struct JobView {
  RevisionPtr job;
  json::object document;  // changed along the way; its status is what will be reported
  std::vector<WatchedPodPtr> active = {};
  std::int64_t terminating = 0;
  std::set<std::int64_t> done = {};  // indexes
  std::int64_t now = 0;
  std::string now_text = {};

  bool is_indexed() const { return TextAt(document, {"spec", "completionMode"}) == "Indexed"; }
  std::int64_t parallelism() const { return FindNumber(document, {"spec", "parallelism"}).value_or(1); }
  std::optional<std::int64_t> completions() const { return FindNumber(document, {"spec", "completions"}); }
  std::int64_t succeeded() const { return NumberAt(document, {"status", "succeeded"}); }
  std::int64_t failed() const { return NumberAt(document, {"status", "failed"}); }
  bool is_suspended() const { return FlagAt(document, {"spec", "suspend"}); }
  bool is_ending() const {
    return HasTrueCondition(document, "FailureTarget") || HasTrueCondition(document, "SuccessCriteriaMet");
  }
  void Condition(const ConditionWish& wish) {
    if (!SetCondition(document, wish, now_text)) return;
    for (json::value& entry : ArrayAt(document, {"status", "conditions"})) {
      if (TextAt(entry.get_object(), {"type"}) == wish.type) entry.get_object()["lastProbeTime"] = now_text;
    }
  }
};

JobController::JobController(const ControllerContext& context)
    : context_(context),
      jobs_(ResourceOf("batch/v1", "Job")),
      queue_(context.plane, [this](const std::string& key) { Reconcile(key); }),
      subscription_(context.plane.store().Subscribe(Selection(jobs_), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(jobs_, [&](const RevisionPtr& job) {
    keys_.insert_or_assign(job->uid(), job->key());
    queue_.Add(job->key());
  });
}

JobController::~JobController() { context_.plane.store().Unsubscribe(subscription_); }

void JobController::OnChange(const Change& change, ChangeFrames&) {
  const Revision& job = *change.object;
  if (change.type == wire::WatchType::kDeleted) {
    keys_.erase(job.uid());
    backoffs_.erase(job.uid());
    return;
  }
  keys_.insert_or_assign(job.uid(), job.key());
  queue_.AddGathered(job.key(), context_.pods.OwnedBy(job.uid()).size());
}

void JobController::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  for (const WatchedPodPtr& pod : {before, after}) {
    if (pod == nullptr) continue;
    const auto it = keys_.find(pod->revision().controller_uid());
    if (it != keys_.end()) queue_.AddGathered(it->second, context_.pods.OwnedBy(it->first).size());
  }
  // Nobody counts the pod of a Job that is gone, so nobody else lets it go.
  if (after == nullptr || !after->revision().is_terminating()) return;
  const std::string_view owner = after->revision().controller_uid();
  if (!owner.empty() && !keys_.contains(owner)) queue_.Add("pod " + after->revision().key());
}

void JobController::Reconcile(const std::string& key) {
  if (key.starts_with("pod ")) {
    const RevisionPtr pod = FindByKey(context_.plane.store(), ResourceOf("v1", "Pod"), key.substr(4));
    if (pod != nullptr && pod->is_terminating() && HasFinalizer(pod->Document(), kTracking)) ForgetPod(*pod);
    return;
  }
  const RevisionPtr job = FindByKey(context_.plane.store(), jobs_, key);
  if (job == nullptr) return;
  JobView view{.job = job, .document = job->Document()};
  // Another controller looks after it.
  const std::string_view manager = TextAt(view.document, {"spec", "managedBy"});
  if (!manager.empty() && manager != "kubernetes.io/job-controller") return;
  if (IsFinished(view.document)) {
    CountFinished(view);
    RemoveWhenOld(*job, view.document);
    return;
  }
  view.now = SecondsOf(context_.plane.clock().WallNow());
  view.now_text = context_.plane.writer().TimeText();
  view.done = ParseIndexes(TextAt(view.document, {"status", "completedIndexes"}));
  CountFinished(view);
  if (!job->is_terminating()) {
    Decide(view);
    Manage(view);
  }
  Report(view);
}

void JobController::ForgetPod(const Revision& pod) {
  static_cast<void>(ChangeObject(context_.plane.writer(), pod,
                                 [](json::object& document) { DropFinalizer(document, kTracking); }));
}

// Adds what ended since the last look to the status, and lets go of the pods.
void JobController::CountFinished(JobView& view) {
  std::vector<WatchedPodPtr> pods;
  for (const auto& [key, pod] : context_.pods.OwnedBy(view.job->uid())) pods.push_back(pod);
  std::int64_t succeeded = view.succeeded();
  std::int64_t failed = view.failed();
  for (const WatchedPodPtr& pod : pods) {
    if (pod->is_active()) {
      view.active.push_back(pod);
      continue;
    }
    view.terminating += pod->is_finished() ? 0 : 1;
    const json::object document = pod->revision().Document();
    if (!HasFinalizer(document, kTracking)) continue;
    Backoff& backoff = backoffs_[view.job->uid()];
    if (pod->phase() == PodPhase::kSucceeded) {
      const std::optional<std::int64_t> index = IndexOf(document);
      if (!view.is_indexed()) {
        ++succeeded;
      } else if (index && view.done.insert(*index).second) {
        ++succeeded;
      }
      backoff = {};
    } else {
      ++failed;
      backoff = {backoff.failures + 1, view.now};
    }
    ForgetPod(pod->revision());
  }
  ObjectAt(view.document, {"status"})["succeeded"] = succeeded;
  ObjectAt(view.document, {"status"})["failed"] = failed;
}

// Whether it is over, and how.
void JobController::Decide(JobView& view) {
  json::object& status = ObjectAt(view.document, {"status"});
  if (view.is_suspended() && !view.is_ending()) {
    view.Condition({"Suspended", "True", "JobSuspended", "Job suspended"});
    ObjectAt(view.document, {"status"}).erase("startTime");
    return;
  }
  if (HasTrueCondition(view.document, "Suspended")) {
    view.Condition({"Suspended", "False", "JobResumed", "Job resumed"});
  }
  if (!status.contains("startTime")) status["startTime"] = view.now_text;
  if (view.is_ending()) return;
  const std::optional<std::int64_t> limit = FindNumber(view.document, {"spec", "activeDeadlineSeconds"});
  const std::int64_t left =
      SecondsAt(view.document, {"status", "startTime"}).value_or(view.now) + limit.value_or(0) - view.now;
  const std::optional<std::int64_t> wanted = view.completions();
  const bool is_enough = wanted ? view.succeeded() >= *wanted : view.succeeded() > 0 && view.active.empty();
  if (is_enough) {
    view.Condition(
        {"SuccessCriteriaMet", "True", "CompletionsReached", "Reached expected number of succeeded pods"});
  } else if (view.failed() > FindNumber(view.document, {"spec", "backoffLimit"}).value_or(6)) {
    view.Condition(
        {"FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"});
  } else if (limit && left <= 0) {
    view.Condition(
        {"FailureTarget", "True", "DeadlineExceeded", "Job was active longer than specified deadline"});
  } else if (limit) {
    queue_.AddAfter(view.job->key(), std::chrono::seconds(left));
  }
}

void JobController::Manage(JobView& view) {
  if (view.is_ending() || view.is_suspended()) {
    DeletePods(view.active);
    return;
  }
  const auto present = static_cast<std::int64_t>(view.active.size());
  const std::optional<std::int64_t> completions = view.completions();
  std::int64_t wanted = view.parallelism();
  if (completions) wanted = std::min(wanted, *completions - view.succeeded());
  // Without a number of completions, the first success means that the others are about to finish.
  if (!completions && view.succeeded() > 0) wanted = present;
  // Pods on their way out still hold their place if asked so.
  if (TextAt(view.document, {"spec", "podReplacementPolicy"}) == "Failed") wanted -= view.terminating;
  if (present > wanted) {
    std::vector<WatchedPodPtr> surplus = view.active;
    std::ranges::stable_sort(
        surplus, {}, [](const WatchedPodPtr& pod) { return std::pair(pod->is_ready(), -pod->created()); });
    surplus.resize(static_cast<std::size_t>(present - std::max<std::int64_t>(wanted, 0)));
    DeletePods(surplus);
  } else if (present < wanted) {
    const Backoff& backoff = backoffs_[view.job->uid()];
    if (backoff.failures > 0) {
      const std::int64_t doublings = std::min<std::int64_t>(backoff.failures - 1, 10);
      const std::int64_t delay = std::min(kBackoffSeconds << doublings, kBackoffSecondsMax);
      const std::int64_t left = backoff.last_failure + delay - view.now;
      if (left > 0) {
        queue_.AddAfter(view.job->key(), std::chrono::seconds(left));
        return;
      }
    }
    CreatePods(view, std::min(wanted - present, kJobBurst));
    if (wanted - present > kJobBurst) queue_.AddAfter(view.job->key(), std::chrono::milliseconds(20));
  }
}

void JobController::CreatePods(JobView& view, std::int64_t count) {
  std::set<std::int64_t> taken = view.done;
  if (view.is_indexed()) {
    for (const WatchedPodPtr& pod : view.active) {
      if (const std::optional<std::int64_t> index = IndexOf(pod->revision().Document())) taken.insert(*index);
    }
  }
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    json::object pod = PodFromTemplate(view.document, *view.job);
    AddFinalizer(pod, kTracking);
    std::string base = fmt::format("{}-", view.job->name());
    if (view.is_indexed()) {
      while (taken.contains(next)) ++next;
      taken.insert(next);
      base = fmt::format("{}-{}-", view.job->name(), next);
      ObjectAt(pod, {"metadata", "annotations"})[kIndex] = std::to_string(next);
      ObjectAt(pod, {"metadata", "labels"})[kIndex] = std::to_string(next);
      ObjectAt(pod, {"spec"})["hostname"] = fmt::format("{}-{}", view.job->name(), next);
    }
    ObjectAt(pod, {"metadata"})["generateName"] = base;
    const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
        {.resource = &ResourceOf("v1", "Pod"), .namespace_name = std::string(view.job->namespace_name())},
        std::move(pod));
    if (!created) {
      const std::string message = "Error creating: " + created.error().message;
      context_.events.Record(*view.job, {kJobComponent, "FailedCreate", message, true});
      queue_.AddAfter(view.job->key(), kRetryDelay);
      return;
    }
    context_.events.Record(
        *view.job, {kJobComponent, "SuccessfulCreate", fmt::format("Created pod: {}", (*created)->name())});
  }
}

void JobController::DeletePods(const std::vector<WatchedPodPtr>& pods) {
  for (const WatchedPodPtr& pod : pods) {
    const Revision& revision = pod->revision();
    static_cast<void>(context_.plane.writer().Delete(TargetOf(revision), {.uid = revision.uid()}));
  }
}

void JobController::Report(JobView& view) {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  for (const auto& [key, pod] : context_.pods.OwnedBy(view.job->uid())) {
    active += pod->is_active() ? 1 : 0;
    ready += pod->is_active() && pod->is_ready() ? 1 : 0;
    terminating += !pod->is_active() && !pod->is_finished() ? 1 : 0;
  }
  json::object& status = ObjectAt(view.document, {"status"});
  status["active"] = active;
  status["ready"] = ready;
  status["terminating"] = terminating;
  status["uncountedTerminatedPods"] = json::object();
  if (view.is_indexed()) status["completedIndexes"] = FormatIndexes(view.done);
  // It is over once the last pod has gone.
  const bool is_over = view.is_ending() && active == 0 && terminating == 0;
  if (is_over && HasTrueCondition(view.document, "SuccessCriteriaMet")) {
    view.Condition({"Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods"});
    ObjectAt(view.document, {"status"})["completionTime"] = view.now_text;
    context_.events.Record(*view.job, {kJobComponent, "Completed", "Job completed"});
  } else if (is_over) {
    const json::object why = *FindCondition(view.document, "FailureTarget");
    view.Condition({"Failed", "True", TextAt(why, {"reason"}), TextAt(why, {"message"})});
    context_.events.Record(*view.job,
                           {kJobComponent, TextAt(why, {"reason"}), TextAt(why, {"message"}), true});
  }
  static_cast<void>(ChangeStatus(context_.plane.writer(), *view.job, [&](json::object& document) {
    document["status"] = view.document["status"];
  }));
}

void JobController::RemoveWhenOld(const Revision& job, const json::object& document) {
  const std::optional<std::int64_t> ttl = FindNumber(document, {"spec", "ttlSecondsAfterFinished"});
  if (!ttl || job.is_terminating()) return;
  const json::object* end =
      FindCondition(document, HasTrueCondition(document, "Complete") ? "Complete" : "Failed");
  const std::int64_t now = SecondsOf(context_.plane.clock().WallNow());
  const std::int64_t left = SecondsAt(*end, {"lastTransitionTime"}).value_or(now) + *ttl - now;
  if (left > 0) {
    queue_.AddAfter(job.key(), std::chrono::seconds(left));
    return;
  }
  static_cast<void>(context_.plane.writer().Delete(TargetOf(job), {.propagation = Propagation::kBackground}));
}

}  // namespace berth::sandbox
