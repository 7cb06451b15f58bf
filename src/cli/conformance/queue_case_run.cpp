#include "cli/conformance/queue_case_run.h"

#include <algorithm>
#include <boost/json.hpp>
#include <stdexcept>

#include "cli/conformance/case_json.h"

namespace berth::cli {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

bool Flag(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->as_bool();
}

api::StringMap Map(const json::object& from, std::string_view key) {
  api::StringMap map;
  if (const json::value* object = from.if_contains(key)) {
    for (const auto& [name, value] : object->as_object()) {
      map.insert_or_assign(std::string(name), std::string(value.as_string()));
    }
  }
  return map;
}

std::optional<std::int32_t> Priority(const json::object& from) {
  const json::value* value = from.if_contains("priority");
  if (value == nullptr) return std::nullopt;
  return static_cast<std::int32_t>(value->as_int64());
}

api::ObjectMeta ReadMeta(const json::object& from) {
  api::ObjectMeta meta;
  meta.name = StringAt(from, "name");
  meta.namespace_ = StringAt(from, "namespace");
  meta.uid = StringAt(from, "uid");
  meta.labels = Map(from, "labels");
  meta.annotations = Map(from, "annotations");
  return meta;
}

api::Pod ReadPod(const json::object& from) {
  api::Pod pod;
  pod.metadata = ReadMeta(from);
  pod.spec.scheduler_name = StringAt(from, "schedulerName");
  pod.spec.priority = Priority(from);
  api::Container& container = pod.spec.containers.emplace_back();
  container.name = "c";
  for (const std::string_view resource : {"cpu", "memory"}) {
    const std::string amount = StringAt(from, resource);
    if (amount.empty()) continue;
    const auto quantity = api::Quantity::Parse(amount);
    if (!quantity) throw std::runtime_error("no quantity: " + amount);
    container.resources.requests.insert_or_assign(std::string(resource), *quantity);
  }
  for (const std::string& gate : TextsAt(from, "gates")) pod.spec.scheduling_gates.push_back({gate});
  for (const std::string& key : TextsAt(from, "tolerations")) {
    api::Toleration& toleration = pod.spec.tolerations.Edit().emplace_back();
    toleration.key = key;
    toleration.operator_ = "Exists";
  }
  for (const std::string& name : TextsAt(from, "claimStatuses")) {
    api::PodResourceClaimStatus& status = pod.status.resource_claim_statuses.emplace_back();
    status.name = name;
    status.resource_claim_name = name + "-claim";
  }
  pod.status.nominated_node_name = StringAt(from, "nominatedNodeName");
  if (const std::string group = StringAt(from, "podGroup"); !group.empty()) {
    pod.spec.scheduling_group.emplace().pod_group_name = group;
  }
  return pod;
}

template <class T>
queue::HeldObject HoldMeta(api::ObjectMeta meta) {
  auto object = std::make_shared<T>();
  object->metadata = std::move(meta);
  return std::shared_ptr<const T>(std::move(object));
}

queue::HeldObject ReadObject(const json::object& step, std::string_view key, api::SharedParts& shared) {
  const json::value* value = step.if_contains(key);
  if (value == nullptr) return {};
  const json::object& from = value->as_object();
  const std::string kind = StringAt(from, "kind");
  api::ObjectMeta meta = ReadMeta(from);
  if (kind == "Pod") {
    api::Pod pod;
    pod.metadata = std::move(meta);
    pod.spec.priority = Priority(from);
    pod.spec.node_name = "n1";
    return std::shared_ptr<const api::PodRecord>(
        std::make_shared<api::PodRecord>(api::MakeRecord(std::move(pod), shared)));
  }
  if (kind == "Node") return HoldMeta<api::Node>(std::move(meta));
  if (kind == "PersistentVolume") return HoldMeta<api::PersistentVolume>(std::move(meta));
  if (kind == "PersistentVolumeClaim") return HoldMeta<api::PersistentVolumeClaim>(std::move(meta));
  if (kind == "StorageClass") return HoldMeta<api::StorageClass>(std::move(meta));
  if (kind == "CSINode") return HoldMeta<api::CSINode>(std::move(meta));
  if (kind == "ResourceClaim") return HoldMeta<api::ResourceClaim>(std::move(meta));
  if (kind == "PodGroup") return HoldMeta<api::PodGroup>(std::move(meta));
  throw std::runtime_error("unknown kind " + kind);
}

class PrioritySort final : public framework::QueueSortPoint {
 public:
  bool Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.timestamp < b.timestamp;
  }
};
const PrioritySort kPrioritySort;

queue::QueueOptions ReadOptions(const json::object& config, bool upstream_backoff_order) {
  const auto seconds = [&](std::string_view key) { return std::chrono::seconds(config.at(key).as_int64()); };
  const json::object& gates = config.at("gates").as_object();
  return {.pod_initial_backoff = seconds("podInitialBackoffSeconds"),
          .pod_max_backoff = seconds("podMaxBackoffSeconds"),
          .pod_max_in_unschedulable = seconds("podMaxInUnschedulableSeconds"),
          .pop_from_backoff = Flag(gates, "SchedulerPopFromBackoffQ"),
          .pre_queueing_hints = Flag(gates, "SchedulerPreQueueingHints"),
          .generic_workload = Flag(gates, "GenericWorkload"),
          .upstream_backoff_order = upstream_backoff_order};
}

json::array Pair(const std::string& a, const json::value& b) { return {a, b}; }

// Where upstream's order means nothing: by time, then name.
void SortPairs(json::array& pairs) {
  std::ranges::sort(pairs, [](const json::value& a, const json::value& b) {
    const auto key = [](const json::value& pair) {
      return std::pair(pair.at(1).as_int64(), std::string_view(pair.at(0).as_string()));
    };
    return key(a) < key(b);
  });
}

void SortTexts(json::array& texts) {
  std::ranges::sort(texts, {}, [](const json::value& text) {
    return std::string_view(text.is_array() ? text.at(0).as_string() : text.as_string());
  });
}

}  // namespace

QueueCaseRun::QueueCaseRun(const json::object& test_case, bool upstream_backoff_order)
    : plugins_(test_case, cluster_) {
  const queue::QueueOptions options = ReadOptions(test_case.at("config").as_object(), upstream_backoff_order);
  windows_ = options.pop_from_backoff;
  auto made = queue::SchedulingQueue::Make(options, plugins_.Profiles(),
                                           {.cluster = cluster_,
                                            .clock = clock_,
                                            .metrics = metrics_,
                                            .sort = kPrioritySort,
                                            .observer = &plugins_});
  if (!made) throw std::runtime_error(made.error().message);
  queue_ = *std::move(made);
}

json::object QueueCaseRun::Do(const json::object& step) {
  clock_.now = base::TimePoint(milliseconds(step.at("t").as_int64()));
  json::object outcome;
  const std::string op = StringAt(step, "op");
  if (op == "add" || op == "update") {
    DoPodStep(step, op == "update");
  } else if (op == "delete") {
    DoDelete(StringAt(step, "key"));
  } else if (op == "assign") {
    pods_.at(StringAt(step, "key")).known = false;
  } else if (op == "pop") {
    DoPop(outcome);
  } else if (op == "done") {
    queue_->Done(popped_.at(StringAt(step, "uid")).pod);
  } else if (op == "reject") {
    DoReject(step, outcome);
  } else if (op == "event") {
    DoEvent(step);
  } else if (op == "activate") {
    std::vector<cluster::PodSlot> slots;
    for (const std::string& key : TextsAt(step, "keys")) slots.push_back(pods_.at(key).slot);
    queue_->Activate(slots);
  } else if (op == "flushBackoff") {
    queue_->FlushBackoff();
  } else if (op == "flushUnschedulable") {
    queue_->FlushUnschedulable();
  } else if (op == "nominate") {
    DoNominate(step);
  } else if (op == "denominate") {
    cluster_.ClearNomination(pods_.at(StringAt(step, "key")).slot);
  } else if (op == "toggle") {
    plugins_.Toggle(StringAt(step, "plugin"), Flag(step, "open"));
  } else if (op == "close") {
    queue_->Close();
  } else if (op == "addGroup") {
    const json::object& from = step.at("group").as_object();
    api::PodGroup group;
    group.metadata = ReadMeta(from);
    group.spec.priority = Priority(from);
    queue_->SetPodGroup(group);
  } else if (op == "deleteGroup") {
    const json::object& from = step.at("group").as_object();
    queue_->RemovePodGroup(
        {queue::GroupKind::kPodGroup, StringAt(from, "namespace"), StringAt(from, "name")});
  } else if (op == "groupAttempted") {
    DoGroupAttempted(step, outcome);
  } else {
    throw std::runtime_error("unknown step " + op);
  }
  AddCalls(outcome);
  return outcome;
}

void QueueCaseRun::DoPodStep(const json::object& step, bool is_update) {
  const json::object& from = step.at("pod").as_object();
  cluster::PodRecordRef record = std::make_shared<api::PodRecord>(api::MakeRecord(ReadPod(from), shared_));
  const std::string key = cluster::PodName(*record);
  const auto slot = cluster_.SetPending(record);
  if (!slot) throw std::runtime_error(slot.error().message);
  const auto found = pods_.find(key);
  const cluster::PodRecordRef old = found == pods_.end() ? record : found->second.record;
  const Pod& pod = pods_[key] = {record, *slot, !Flag(step, "noInformer")};
  if (is_update) {
    queue_->Update(old, *slot);
  } else {
    queue_->Add(*slot);
  }
  KeepNominationOnlyIfKnown(pod);
}

void QueueCaseRun::KeepNominationOnlyIfKnown(const Pod& pod) {
  if (!pod.known) cluster_.ClearNomination(pod.slot);
}

void QueueCaseRun::DoDelete(const std::string& key) {
  const Pod& pod = pods_.at(key);
  queue_->Delete(pod.slot);
  if (const auto removed = cluster_.RemovePending(pod.record->uid); !removed) {
    throw std::runtime_error(removed.error().message);
  }
  pods_.erase(key);
}

void QueueCaseRun::DoPop(json::object& outcome) {
  const auto popped = queue_->Pop();
  if (!popped) {
    outcome["popped"] = "";
    return;
  }
  json::object info = InfoOf(popped->params);
  if (popped->group.IsValid()) {
    const queue::GroupKey& group = queue_->forest().key(popped->group);
    const std::string key = "group:" + group.namespace_ + "/" + group.name;
    outcome["popped"] = key;
    json::array members;
    for (const queue::PoppedPod& pod : popped->pods) members.emplace_back(KeyOf(pod.pod));
    info["members"] = std::move(members);
    groups_.insert_or_assign(key, *popped);
  } else {
    outcome["popped"] = KeyOf(popped->pods.front().pod);
    info["uid"] = cluster_.pods().record(popped->pods.front().pod.id).uid;
  }
  outcome["poppedInfo"] = std::move(info);
  for (const queue::PoppedPod& pod : popped->pods) {
    popped_.insert_or_assign(cluster_.pods().record(pod.pod.id).uid, pod);
  }
}

void QueueCaseRun::DoReject(const json::object& step, json::object& outcome) {
  const queue::PoppedPod& popped = popped_.at(StringAt(step, "uid"));
  const auto returned = queue_->Return(popped, {.unschedulable = ReadPlugins(step, "unschedulablePlugins"),
                                                .pending = ReadPlugins(step, "pendingPlugins")});
  if (!returned) outcome["error"] = returned.error().message;
}

queue::PluginSet QueueCaseRun::ReadPlugins(const json::object& step, std::string_view key) {
  queue::PluginSet plugins;
  for (const std::string& name : TextsAt(step, key)) plugins.Insert(queue_->plugins().Intern(name));
  return plugins;
}

void QueueCaseRun::DoEvent(const json::object& step) {
  framework::ClusterEvent event = ReadQueueEvent(step);
  const std::string label = StringAt(step, "label");
  event.custom_label = label;
  queue::SchedulingQueue::PreCheck check;
  if (const json::value* given = step.if_contains("preCheck")) {
    check = [this, &rule = given->as_object()](cluster::PodSlot pod) {
      const std::int32_t priority = cluster_.pods().priority(pod);
      const json::value* max = rule.if_contains("maxPriority");
      const json::value* min = rule.if_contains("minPriority");
      const std::string not_uid = StringAt(rule, "notUID");
      return (max == nullptr || priority <= max->as_int64()) &&
             (min == nullptr || priority >= min->as_int64()) &&
             (not_uid.empty() || cluster_.pods().record(pod).uid != not_uid);
    };
  }
  queue_->Notify(event, ReadObject(step, "old", shared_), ReadObject(step, "new", shared_), check);
}

void QueueCaseRun::DoNominate(const json::object& step) {
  const Pod& pod = pods_.at(StringAt(step, "key"));
  if (StringAt(step, "mode") == "override") {
    cluster_.Nominate(pod.slot, StringAt(step, "node"));
  } else {
    cluster_.Nominate(pod.slot);
  }
  KeepNominationOnlyIfKnown(pod);
}

void QueueCaseRun::DoGroupAttempted(const json::object& step, json::object& outcome) {
  const std::string status = StringAt(step, "status");
  const queue::GroupOutcome ended = status == "Success" ? queue::GroupOutcome::kSuccess
                                    : status == "Error" ? queue::GroupOutcome::kError
                                                        : queue::GroupOutcome::kUnschedulable;
  const auto returned = queue_->ReturnGroup(groups_.at(StringAt(step, "key")), ended);
  if (!returned) outcome["error"] = returned.error().message;
}

void QueueCaseRun::AddCalls(json::object& outcome) {
  const QueueCalls calls = plugins_.TakeCalls();
  json::array hints, pre_hints, passes;
  for (const auto& [key, calls_of] : calls.hints) {
    hints.push_back(json::array{calls_of.plugin, calls_of.pod, calls_of.count});
  }
  for (const auto& [plugin, count] : calls.pre_hints) pre_hints.push_back(json::array{plugin, count});
  for (const auto& [pod, pass] : calls.passes)
    passes.push_back(json::array{pod, pass.count, pass.rejected_by});
  if (!hints.empty()) outcome["hintCalls"] = std::move(hints);
  if (!pre_hints.empty()) outcome["preHintCalls"] = std::move(pre_hints);
  if (!passes.empty()) outcome["preEnqueue"] = std::move(passes);
}

std::int64_t QueueCaseRun::Millis(base::TimePoint time) const {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string QueueCaseRun::KeyOf(queue::PodRef pod) const {
  return cluster::PodName(cluster_.pods().record(pod.id));
}

std::string QueueCaseRun::KeyOf(const queue::SchedulingQueue::Entry& entry) const {
  if (!entry.group.IsValid()) return KeyOf(entry.pod);
  const queue::GroupKey& group = queue_->forest().key(entry.group);
  return "group:" + group.namespace_ + "/" + group.name;
}

json::array QueueCaseRun::Names(const queue::PluginSet& plugins) const {
  json::array names;
  plugins.ForEach(
      [&](queue::PluginId plugin) { names.emplace_back(std::string(queue_->plugins().Get(plugin))); });
  SortTexts(names);
  return names;
}

json::object QueueCaseRun::InfoOf(const queue::QueueingParams& params) const {
  json::object info;
  info["timestamp"] = Millis(params.timestamp);
  if (params.attempts != 0) info["attempts"] = params.attempts;
  if (params.unschedulable_count != 0) info["unschedulableCount"] = params.unschedulable_count;
  if (params.consecutive_errors != 0) info["errors"] = params.consecutive_errors;
  if (params.initial_attempt) info["initialAttempt"] = Millis(*params.initial_attempt);
  if (params.was_flushed) info["wasFlushed"] = true;
  if (params.flush_timestamp) info["flushTimestamp"] = Millis(*params.flush_timestamp);
  if (!params.unschedulable.empty()) info["unschedulablePlugins"] = Names(params.unschedulable);
  if (!params.pending.empty()) info["pendingPlugins"] = Names(params.pending);
  if (params.gated()) info["gatingPlugin"] = std::string(queue_->plugins().Get(params.gating));
  return info;
}

void QueueCaseRun::AddInfo(const queue::SchedulingQueue::Entry& entry, json::object& info) const {
  json::object own = InfoOf(entry.params);
  if (entry.group.IsValid()) {
    json::array members;
    for (const queue::PodRef member : entry.members) members.emplace_back(KeyOf(member));
    own["members"] = std::move(members);
  } else {
    own["uid"] = cluster_.pods().record(entry.pod.id).uid;
  }
  info[KeyOf(entry)] = std::move(own);
}

json::object QueueCaseRun::State() const {
  using enum queue::Place;
  json::array active, backoff, error_backoff, unschedulable, gated, pending, incomplete;
  json::object info;
  const auto each = [&](queue::Place place, auto&& visit) {
    for (const auto& entry : queue_->List(place)) {
      AddInfo(entry, info);
      visit(entry, KeyOf(entry));
    }
  };
  using Entry = queue::SchedulingQueue::Entry;
  each(kActive, [&](const Entry&, const std::string& key) { active.emplace_back(key); });
  each(kBackoff,
       [&](const Entry& e, const std::string& key) { backoff.push_back(Pair(key, Millis(*e.backoff_end))); });
  each(kErrorBackoff, [&](const Entry& e, const std::string& key) {
    error_backoff.push_back(Pair(key, Millis(*e.backoff_end)));
  });
  each(kUnschedulable, [&](const Entry& e, const std::string& key) {
    if (e.params.gated()) {
      gated.push_back(Pair(key, json::value(std::string(queue_->plugins().Get(e.params.gating)))));
    } else {
      unschedulable.emplace_back(key);
    }
  });
  each(kMember, [](const Entry&, const std::string&) {});
  each(kPending, [&](const Entry&, const std::string& key) { pending.emplace_back(key); });
  each(kIncomplete, [&](const Entry&, const std::string& key) { incomplete.emplace_back(key); });
  if (!windows_) SortPairs(backoff);
  SortPairs(error_backoff);
  for (json::array* list : {&unschedulable, &gated, &pending, &incomplete}) SortTexts(*list);

  json::array in_flight, listing;
  for (std::string& uid : queue_->in_flight().PodUids()) in_flight.emplace_back(std::move(uid));
  for (std::string& line : queue_->in_flight().Listing()) listing.emplace_back(std::move(line));
  json::object state;
  state["active"] = std::move(active);
  state["backoff"] = std::move(backoff);
  state["errorBackoff"] = std::move(error_backoff);
  state["unschedulable"] = std::move(unschedulable);
  state["gated"] = std::move(gated);
  state["inFlightEvents"] = static_cast<std::int64_t>(listing.size() - in_flight.size());
  state["inFlight"] = std::move(in_flight);
  state["inFlightList"] = std::move(listing);
  state["nominated"] = Nominated();
  state["cycle"] = queue_->scheduling_cycle();
  state["pendingGroupPods"] = std::move(pending);
  state["incompleteGroupPods"] = std::move(incomplete);
  state["info"] = std::move(info);
  return state;
}

// As kube-scheduler reports it: a pod that is in no queue has priority 0 there.
json::object QueueCaseRun::Nominated() const {
  json::object nominated;
  cluster_.nominator().ForEachNode([&](cluster::NodeNameId node, std::span<const cluster::PodSlot> pods) {
    json::array list;
    for (const cluster::PodSlot pod : pods) {
      const std::string key = cluster::PodName(cluster_.pods().record(pod));
      const auto named = pods_.find(key);
      const cluster::PodSlot last = named == pods_.end() ? pod : named->second.slot;
      const bool waits = queue_->WhereIs(last) != queue::Place::kNowhere;
      list.push_back(Pair(key, waits ? cluster_.pods().priority(last) : 0));
    }
    nominated[cluster_.nodes().NameText(node)] = std::move(list);
  });
  return nominated;
}

namespace {

// `name{a="x",b="y"} 3` as the values of the labels asked for, and the number.
std::optional<std::pair<std::string, std::int64_t>> ReadSeries(std::string_view line, std::string_view name,
                                                               std::span<const std::string_view> labels) {
  if (!line.starts_with(name) || !line.substr(name.size()).starts_with('{')) return std::nullopt;
  std::string key;
  for (const std::string_view label : labels) {
    const std::string start = std::string(label) + "=\"";
    const std::size_t at = line.find(start) + start.size();
    if (!key.empty()) key += '|';
    key += line.substr(at, line.find('"', at) - at);
  }
  return std::pair(key, std::stoll(std::string(line.substr(line.rfind(' ') + 1))));
}

}  // namespace

json::object QueueCaseRun::Metrics() const {
  struct Wanted {
    std::string_view name;
    std::vector<std::string_view> labels;
  };
  const Wanted wanted[] = {{"queue_incoming_pods_total", {"queue", "event"}},
                           {"queue_incoming_entities_total", {"queue", "event", "type"}},
                           {"pending_pods", {"queue"}},
                           {"unschedulable_pods", {"plugin", "profile"}}};
  const std::string text = registry_.Text();
  json::object metrics;
  for (const Wanted& metric : wanted) {
    json::object& series = metrics[metric.name].emplace_object();
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      const auto read = ReadSeries(std::string_view(text).substr(at, end - at),
                                   "scheduler_" + std::string(metric.name), metric.labels);
      if (read && read->second != 0) series[read->first] = read->second;
    }
  }
  return metrics;
}

}  // namespace berth::cli
