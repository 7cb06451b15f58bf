#include <cstdlib>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.h"
#include "queue/naive_queue.h"
#include "queue/queue_harness.h"

// Any history leaves the queue in the state in which a queue without cleverness is. BERTH_QUEUE_STEPS says
// how many steps the long run takes; BERTH_QUEUE_SEED starts it elsewhere.
namespace berth::queue::test {
namespace {

struct Step {
  std::uint8_t what = 0, who = 0, how = 0, more = 0;
};

constexpr std::size_t kStepsMax = 120;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

rc::Gen<std::vector<Step>> AnySteps() {
  const auto byte = rc::gen::arbitrary<std::uint8_t>();
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, kStepsMax), [byte](std::size_t count) {
    return rc::gen::container<std::vector<Step>>(
        count, rc::gen::build<Step>(rc::gen::set(&Step::what, byte), rc::gen::set(&Step::who, byte),
                                    rc::gen::set(&Step::how, byte), rc::gen::set(&Step::more, byte)));
  });
}

const std::string kColors[] = {"red", "green", "blue"};
const std::string kPlugins[] = {"gate", "color", "list"};

std::string LabelOf(const base::SharedTextMap& labels, std::string_view key) {
  return std::string(labels.find(key).value_or(""));
}

// The real queue with the plugins that the naive one knows, both told the same.
class Pair {
 public:
  explicit Pair(QueueOptions options) : real_(Plugins(), options) {
    naive_.windows = options.pop_from_backoff;
    naive_.pre_hints = options.pre_queueing_hints;
  }

  void Do(const Step& step);
  // Empty: the two are in the same state, and did the same so far.
  std::string Difference() const {
    if (popped_another_) return "popped something else";
    const std::string naive = naive_.Show();
    const std::string real = ShowReal();
    return naive == real ? std::string() : "naive\n" + naive + "\nreal\n" + real;
  }

 private:
  std::vector<PluginSpec> Plugins();
  static api::Pod Build(const NaiveQueue::Pod& pod);
  NaiveQueue::Pod AnyPod(const Step& step, std::string uid) const;
  void AddOrUpdate(const Step& step);
  void Return(const Step& step);
  void NodeAdd(const Step& step);
  std::string ShowReal() const;

  NaiveQueue naive_;
  QueueHarness real_;
  std::map<std::string, NaiveQueue::Pod> known_;  // by name
  struct Flying {
    NaiveQueue::Pod naive;
    PoppedPod real;
  };
  std::map<std::string, Flying> flying_;  // by uid
  int last_uid_ = 0;
  bool popped_another_ = false;
};

std::vector<PluginSpec> Pair::Plugins() {
  const auto same_color = [](const framework::HintInput& input) -> base::Result<Hint> {
    const api::Node& node = *std::get<const api::Node*>(input.new_object);
    const std::string color = LabelOf(input.record().labels, "color");
    return LabelOf(base::SharedTextMap(node.metadata.labels), "color") == color ? Hint::kQueue
                                                                                : Hint::kQueueSkip;
  };
  const auto important = [](const framework::HintInput& input) -> base::Result<Hint> {
    return input.cluster.pods().priority(input.pod) >= 2 ? Hint::kQueue : Hint::kQueueSkip;
  };
  const auto turned_green = [](const framework::HintInput& input) -> base::Result<Hint> {
    const api::PodRecord& pod = *std::get<const api::PodRecord*>(input.new_object);
    const bool green = pod.uid == input.record().uid && LabelOf(pod.labels, "color") == "green";
    return green ? Hint::kQueue : Hint::kQueueSkip;
  };
  const auto listed = [](const framework::PreHintInput& input) -> base::Result<framework::PreHint> {
    framework::PreHint hint{.all_pods = false, .pods = {}};
    const api::Node& node = *std::get<const api::Node*>(input.new_object);
    for (const auto& [name, value] : node.metadata.annotations) hint.pods.emplace_back("default", name);
    return hint;
  };
  return {{.name = "gate",
           .wishes = {{.event = kNodeAdd}},
           .gate =
               [this](const api::PodRecord& pod) {
                 const bool shut = LabelOf(pod.labels, "shut") == "yes" && !naive_.gate_open;
                 return shut ? framework::Status::Unresolvable("shut") : framework::Status();
               }},
          {.name = "color",
           .wishes = {{.event = kNodeAdd, .hint = same_color},
                      {.event = kAssignedPodDelete, .hint = important, .by_template = true},
                      {.event = kTargetPodUpdate, .hint = turned_green}}},
          {.name = "list", .wishes = {{.event = kNodeAdd, .pre_hint = listed}}}};
}

api::Pod Pair::Build(const NaiveQueue::Pod& pod) {
  return MakePod(pod.name)
      .Uid(pod.uid)
      .Priority(pod.priority)
      .Label("color", pod.color)
      .Label("shut", pod.shut ? "yes" : "");
}

NaiveQueue::Pod Pair::AnyPod(const Step& step, std::string uid) const {
  NaiveQueue::Pod pod;
  pod.name = std::string(1, static_cast<char>('a' + step.who % 6));
  pod.uid = std::move(uid);
  pod.color = kColors[step.how % 3];
  pod.priority = step.more % 4;
  pod.shut = step.how % 5 == 0;
  return pod;
}

void Pair::AddOrUpdate(const Step& step) {
  NaiveQueue::Pod pod = AnyPod(step, "");
  const auto found = known_.find(pod.name);
  if (found == known_.end()) {
    pod.uid = pod.name + std::to_string(++last_uid_);
    naive_.Add(pod);
    real_.Add(Build(pod));
    known_[pod.name] = pod;
    return;
  }
  // A gate that was opened would be an event of its own; the naive queue only knows that of the color.
  pod.uid = found->second.uid;
  pod.shut = found->second.shut;
  const std::string old_color = found->second.color;
  naive_.Update(pod, old_color);
  real_.Update(Build(pod));
  known_[pod.name] = pod;
}

void Pair::Return(const Step& step) {
  if (flying_.empty()) return;
  const auto flying = std::next(flying_.begin(), step.who % static_cast<int>(flying_.size()));
  NaiveQueue::Pod pod = flying->second.naive;
  const PoppedPod popped = flying->second.real;
  flying_.erase(flying);
  const auto known = known_.find(pod.name);
  if (known == known_.end() || known->second.uid != pod.uid) {
    naive_.Done(pod.uid);
    real_.queue->Done(popped.pod);
    return;
  }
  pod.color = known->second.color;
  pod.priority = known->second.priority;
  std::set<std::string> unschedulable, pending;
  for (int i = 0; i < 3; ++i) {
    if ((step.how >> i & 1) != 0) unschedulable.insert(kPlugins[i]);
    if ((step.more & 0x40) != 0 && (step.more >> i & 1) != 0) pending.insert(kPlugins[i]);
  }
  naive_.Return(pod, unschedulable, pending);
  real_.popped[pod.name] = popped;
  real_.Reject(pod.name, {unschedulable.begin(), unschedulable.end()}, {pending.begin(), pending.end()});
}

void Pair::NodeAdd(const Step& step) {
  auto node = std::make_shared<api::Node>();
  node->metadata.labels.insert_or_assign("color", kColors[step.who % 3]);
  NaiveQueue::Event event{NaiveQueue::Event::kNodeAdd, "NodeAdd", kColors[step.who % 3], {}, ""};
  for (int i = 0; i < 6; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    if ((step.how >> i & 1) == 0) continue;
    event.listed.insert(name);
    node->metadata.annotations.insert_or_assign(name, "");
  }
  naive_.Notify(event);
  real_.queue->Notify(kNodeAdd, {}, std::shared_ptr<const api::Node>(std::move(node)));
}

void Pair::Do(const Step& step) {
  using Event = NaiveQueue::Event;
  const milliseconds pause(step.more * 7);
  real_.Advance(pause);
  naive_.now += pause.count();
  const std::string name(1, static_cast<char>('a' + step.who % 6));
  switch (step.what % 16) {
    case 0:
    case 1:
    case 2:
      return AddOrUpdate(step);
    case 3:
      if (!known_.contains(name)) return;
      naive_.Delete(known_[name].uid);
      known_.erase(name);
      return real_.Delete(name);
    case 4:
    case 5:
    case 6: {
      const auto popped = naive_.Pop();
      popped_another_ |= real_.Pop() != (popped ? popped->name : "");
      if (popped && !popped_another_) flying_[popped->uid] = {*popped, real_.popped.at(popped->name)};
      return;
    }
    case 7:
    case 8:
    case 9:
      return Return(step);
    case 10:
      return NodeAdd(step);
    case 11:
      naive_.Notify({Event::kPodDelete, "AssignedPodDelete", "", {}, ""});
      return real_.Notify(kAssignedPodDelete);
    case 12:
      if (!known_.contains(name)) return;
      naive_.Activate(name, known_[name].uid);
      return real_.Activate(name);
    case 13:
      naive_.gate_open = step.how % 2 == 0;
      return;
    case 14:
      naive_.FlushBackoff();
      return real_.queue->FlushBackoff();
    default:
      if (step.how % 8 == 0) {
        real_.Advance(minutes(5));
        naive_.now += 300'000;
      }
      naive_.FlushUnschedulable();
      return real_.queue->FlushUnschedulable();
  }
}

std::string Pair::ShowReal() const {
  const auto show = [&](const SchedulingQueue::Entry& entry) {
    NaiveQueue::Pod pod;
    const api::PodRecord& record = real_.cluster.pods().record(entry.pod.id);
    const auto names = [&](const PluginSet& set) {
      std::set<std::string> texts;
      set.ForEach([&](PluginId id) { texts.emplace(real_.queue->plugins().Get(id)); });
      return texts;
    };
    pod.name = record.name;
    pod.uid = record.uid;
    pod.timestamp =
        std::chrono::duration_cast<milliseconds>(entry.params.timestamp.time_since_epoch()).count();
    pod.attempts = entry.params.attempts;
    pod.rejections = entry.params.unschedulable_count;
    pod.errors = entry.params.consecutive_errors;
    pod.was_flushed = entry.params.was_flushed;
    pod.unschedulable = names(entry.params.unschedulable);
    pod.pending = names(entry.params.pending);
    if (entry.params.gated()) pod.gating = real_.queue->plugins().Get(entry.params.gating);
    return NaiveQueue::ShowPod(pod);
  };
  std::string text;
  const std::pair<const char*, Place> places[] = {{"active", Place::kActive},
                                                  {"backoff", Place::kBackoff},
                                                  {"error", Place::kErrorBackoff},
                                                  {"unschedulable", Place::kUnschedulable}};
  for (const auto& [name, place] : places) {
    std::vector<std::string> pods;
    for (const auto& entry : real_.queue->List(place)) pods.push_back(show(entry));
    if (place == Place::kUnschedulable) std::ranges::sort(pods);
    text += std::string(name) + ":";
    for (const std::string& pod : pods) text += pod;
    text += "\n";
  }
  for (const std::string& line : real_.queue->in_flight().Listing()) text += line + " ";
  return text;
}

TEST(QueueHistory, EqualsTheNaiveQueueAfterEveryStep) {
  EXPECT_TRUE(rc::check("same state", [] {
    Pair pair(
        {.pop_from_backoff = *rc::gen::arbitrary<bool>(), .pre_queueing_hints = *rc::gen::arbitrary<bool>()});
    for (const Step& step : *AnySteps()) {
      pair.Do(step);
      if (const std::string difference = pair.Difference(); !difference.empty()) RC_FAIL(difference);
    }
  }));
}

// The same without shrinking, which takes memory, over many more steps. A failure names the history; the seed
// is that of the run.
TEST(QueueHistory, EqualsTheNaiveQueueInALongRun) {
  constexpr std::uint64_t kHistory = 1000;
  const std::uint64_t steps = FromEnvironment("BERTH_QUEUE_STEPS", 50'000);
  base::Random random(FromEnvironment("BERTH_QUEUE_SEED", 1));
  const auto byte = [&] { return static_cast<std::uint8_t>(random.Uniform(256)); };
  std::uint64_t done = 0;
  for (std::uint64_t history = 0; done < steps; ++history) {
    Pair pair({.pop_from_backoff = history % 2 == 0, .pre_queueing_hints = history / 2 % 2 == 0});
    for (std::uint64_t i = 0; i < kHistory && done < steps; ++i, ++done) {
      const Step step{byte(), byte(), byte(), byte()};
      pair.Do(step);
      const std::string difference = pair.Difference();
      ASSERT_EQ(difference, "") << "history " << history << ", step " << i;
    }
  }
  EXPECT_EQ(done, steps);
}

// Whatever happens to groups and their members, nobody is lost and nobody is in two places, and the gauges
// say so.
TEST(QueueHistory, EveryPodIsInExactlyOnePlace) {
  EXPECT_TRUE(rc::check("one place", [] {
    QueueHarness q(
        {{.name = "gate", .wishes = {{.event = kNodeAdd}}, .gate = RejectsLabel("shut")}, {.name = "fit"}},
        {.generic_workload = true});
    std::set<std::string> waiting;
    const auto pop = [&] {
      const std::string entity = q.Pop();
      if (entity.empty()) return;
      if (!entity.starts_with("group:")) return static_cast<void>(waiting.erase(entity));
      for (const PoppedPod& pod : q.popped_groups.at(entity.substr(6)).pods) {
        waiting.erase(q.cluster.pods().record(pod.pod.id).name);
      }
    };
    const auto put_back = [&](const std::string& name, const Step& step) {
      if (!q.slots.contains(name) || waiting.contains(name)) return;
      q.Reject(name, step.how % 2 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"fit"});
      waiting.insert(name);
    };
    for (const Step& step : *AnySteps()) {
      const std::string name(1, static_cast<char>('a' + step.who % 8));
      const std::string group = step.who % 2 == 0 ? "even" : "odd";
      q.Advance(milliseconds(step.more * 10));
      switch (step.what % 12) {
        case 0:
        case 1:
        case 2:
          if (q.slots.contains(name)) break;
          {
            api::Pod pod = step.who % 8 < 5 ? GroupPod(name, group) : api::Pod(MakePod(name));
            pod.metadata.uid = name + std::to_string(step.how) + std::to_string(step.more);
            if (step.how % 4 == 0) pod.metadata.labels.insert_or_assign("gate", "shut");
            q.Add(pod);
            waiting.insert(name);
          }
          break;
        case 3:
          if (q.slots.contains(name) && waiting.erase(name) > 0) q.Delete(name);
          break;
        case 4:
        case 5:
          pop();
          break;
        case 6:
        case 7:
          put_back(name, step);
          break;
        case 8:
          if (q.popped_groups.contains(group)) {
            static_cast<void>(q.GroupTried(group, static_cast<GroupOutcome>(step.how % 3)));
            q.popped_groups.erase(group);
          }
          break;
        case 9:
          if (step.how % 4 == 0) {
            q.queue->RemovePodGroup({GroupKind::kPodGroup, "default", group});
          } else {
            q.queue->SetPodGroup(Group(group, step.how));
          }
          break;
        case 10:
          q.queue->FlushBackoff();
          break;
        default:
          q.Notify(kNodeAdd);
      }
      std::size_t pods = 0;
      for (const Place place : {Place::kActive, Place::kBackoff, Place::kErrorBackoff, Place::kUnschedulable,
                                Place::kPending, Place::kIncomplete}) {
        for (const auto& entry : q.queue->List(place))
          pods += entry.group.IsValid() ? entry.members.size() : 1;
      }
      RC_ASSERT(pods == waiting.size());
      double counted = 0;
      for (const char* queue : {"active", "backoff", "unschedulable", "gated", "incomplete", "pending"}) {
        counted += q.Gauge("scheduler_pending_pods", {queue});
      }
      RC_ASSERT(counted == static_cast<double>(waiting.size()));
      for (const std::string& pod : waiting) RC_ASSERT(q.Where(pod) != Place::kNowhere);
    }
  }));
}

}  // namespace
}  // namespace berth::queue::test
