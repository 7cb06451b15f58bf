#include "queue/queue_harness.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>

namespace berth::queue::test {
namespace {

class PrioritySort final : public framework::QueueSortPoint {
 public:
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.timestamp < b.timestamp;
  }
};
const PrioritySort kPrioritySort;

}  // namespace

HintAnswer Says(Hint hint) {
  return [hint](const framework::HintInput&) -> base::Result<Hint> { return hint; };
}
HintAnswer Fails() {
  return [](const framework::HintInput&) -> base::Result<Hint> { return base::Fail("no answer"); };
}
PreHintAnswer Names(std::vector<std::string> pods) {
  return [pods = std::move(pods)](const framework::PreHintInput&) -> base::Result<framework::PreHint> {
    framework::PreHint hint{.all_pods = false, .pods = {}};
    for (const std::string& pod : pods) hint.pods.emplace_back("default", pod);
    return hint;
  };
}
PreHintAnswer AllPods() {
  return
      [](const framework::PreHintInput&) -> base::Result<framework::PreHint> { return framework::PreHint{}; };
}

std::function<framework::Status(const api::PodRecord&)> RejectsLabel(std::string word, std::string message) {
  return [word = std::move(word), message = std::move(message)](const api::PodRecord& pod) {
    return pod.labels.find("gate") == word ? framework::Status::Unresolvable(message) : framework::Status();
  };
}

api::Pod GroupPod(std::string name, std::string group) {
  api::Pod pod = MakePod(std::move(name));
  pod.spec.scheduling_group.emplace().pod_group_name = std::move(group);
  return pod;
}

api::PodGroup Group(std::string name, std::int32_t priority) {
  api::PodGroup group;
  group.metadata.namespace_ = "default";
  group.metadata.name = std::move(name);
  group.spec.priority = priority;
  return group;
}

class QueueHarness::Gate final : public framework::PreEnqueuePoint {
 public:
  Gate(QueueHarness& harness, const PluginSpec& spec)
      : harness_(harness), name_(spec.name), gate_(spec.gate) {}
  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override {
    harness_.pre_enqueue_calls.push_back(name_ + " " + pod.record().name);
    return gate_(pod.record());
  }

 private:
  QueueHarness& harness_;
  const std::string name_;
  const std::function<framework::Status(const api::PodRecord&)> gate_;
};

QueueHarness::QueueHarness(std::vector<PluginSpec> plugins, QueueOptions options,
                           PreEnqueueObserver* observer, std::vector<QueueProfile::PreEnqueue> more_gates) {
  QueueProfile profile{.scheduler_name = "default-scheduler", .pre_enqueue = std::move(more_gates)};
  for (const PluginSpec& spec : plugins) {
    if (spec.gate) {
      gates_.push_back(std::make_unique<Gate>(*this, spec));
      profile.pre_enqueue.push_back(MakePreEnqueue(spec.name, *gates_.back()));
    }
    QueueProfile::Events events{.plugin = spec.name, .registrations = {}};
    for (const Wish& wish : spec.wishes) {
      framework::EventRegistration registration{.event = wish.event};
      registration.pre_hint = wish.pre_hint;
      registration.by_template = wish.by_template;
      if (wish.hint) {
        registration.hint = [this, name = spec.name, hint = wish.hint](const framework::HintInput& input) {
          hint_calls.push_back(name + " " + input.record().name);
          return hint(input);
        };
      }
      events.registrations.push_back(std::move(registration));
    }
    profile.events.push_back(std::move(events));
  }
  auto made = SchedulingQueue::Make(
      options, {std::move(profile)},
      {.cluster = cluster, .clock = clock, .metrics = metrics, .sort = kPrioritySort, .observer = observer});
  EXPECT_TRUE(made.has_value());
  queue = *std::move(made);
}
QueueHarness::~QueueHarness() = default;

cluster::PodRecordRef QueueHarness::Record(api::Pod pod) {
  if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = "default-scheduler";
  return std::make_shared<api::PodRecord>(api::MakeRecord(std::move(pod), shared_));
}

void QueueHarness::Add(api::Pod pod) {
  const std::string name = pod.metadata.name;
  slots[name] = *cluster.SetPending(Record(std::move(pod)));
  queue->Add(slots[name]);
}

void QueueHarness::Update(api::Pod pod) {
  const std::string name = pod.metadata.name;
  const cluster::PodRecordRef old = cluster.pods().facts(slots.at(name)).record;
  slots[name] = *cluster.SetPending(Record(std::move(pod)));
  queue->Update(old, slots[name]);
}

void QueueHarness::Delete(const std::string& name) {
  queue->Delete(Slot(name));
  EXPECT_TRUE(cluster.RemovePending(cluster.pods().record(Slot(name)).uid).has_value());
  slots.erase(name);
}

std::string QueueHarness::Pop() {
  const auto entity = queue->Pop();
  if (!entity) return {};
  for (const PoppedPod& pod : entity->pods) popped[cluster.pods().record(pod.pod.id).name] = pod;
  if (!entity->group.IsValid()) return cluster.pods().record(entity->pods.front().pod.id).name;
  const std::string name = queue->forest().key(entity->group).name;
  popped_groups[name] = *entity;
  return "group:" + name;
}

void QueueHarness::Reject(const std::string& name, const std::vector<std::string>& plugins,
                          const std::vector<std::string>& pending, std::uint64_t likeness) {
  Rejection rejection;
  rejection.likeness = likeness;
  for (const std::string& plugin : plugins) rejection.unschedulable.Insert(queue->plugins().Intern(plugin));
  for (const std::string& plugin : pending) rejection.pending.Insert(queue->plugins().Intern(plugin));
  const auto returned = queue->Return(popped.at(name), rejection);
  error = returned ? std::string() : returned.error().message;
}

void QueueHarness::Park(const std::string& name, const std::vector<std::string>& plugins) {
  Add(MakePod(name).Priority(1000));
  EXPECT_EQ(Pop(), name);
  Reject(name, plugins);
  EXPECT_EQ(Where(name), Place::kUnschedulable);
}

void QueueHarness::Notify(const ClusterEvent& event, const SchedulingQueue::PreCheck& check) {
  queue->Notify(event, {}, std::make_shared<const api::Node>(), check);
}

void QueueHarness::Activate(const std::string& name) {
  const cluster::PodSlot pods[] = {Slot(name)};
  queue->Activate(pods);
}

base::Result<void> QueueHarness::GroupTried(const std::string& group, GroupOutcome outcome) {
  return queue->ReturnGroup(popped_groups.at(group), outcome);
}

const QueueingParams& QueueHarness::Params(const std::string& name) const {
  const QueueingParams* params = queue->Find(Slot(name));
  static const QueueingParams kNone;
  EXPECT_NE(params, nullptr) << name << " does not wait";
  return params == nullptr ? kNone : *params;
}

std::vector<std::string> QueueHarness::List(Place place) const {
  std::vector<std::string> names;
  for (const auto& entry : queue->List(place)) {
    names.push_back(entry.group.IsValid() ? "group:" + queue->forest().key(entry.group).name
                                          : cluster.pods().record(entry.pod.id).name);
  }
  return names;
}

int QueueHarness::HintCalls(const std::string& plugin) const {
  return static_cast<int>(std::ranges::count_if(
      hint_calls, [&](const std::string& call) { return call.starts_with(plugin + " "); }));
}

double QueueHarness::Gauge(std::string_view family, std::initializer_list<std::string_view> labels) {
  const auto* gauges = dynamic_cast<base::GaugeFamily*>(registry.Find(family));
  const auto series = gauges == nullptr ? nullptr : gauges->Find(labels);
  return series ? series->Value() : 0;
}

double QueueHarness::Counter(std::string_view family, std::initializer_list<std::string_view> labels) {
  const auto* counters = dynamic_cast<base::CounterFamily*>(registry.Find(family));
  const auto series = counters == nullptr ? nullptr : counters->Find(labels);
  return series ? series->Value() : 0;
}

}  // namespace berth::queue::test
