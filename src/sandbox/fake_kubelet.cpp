#include "sandbox/fake_kubelet.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>

#include "api/time.h"
#include "sandbox/conditions.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kRunSeconds = "berth.dev/run-seconds";
constexpr std::string_view kExitCode = "berth.dev/exit-code";
constexpr std::int64_t kJobSeconds = 2;
constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr int kZones = 3;

json::object Condition(std::string_view type, bool is_true, std::string_view reason, std::string_view message,
                       const std::string& now) {
  json::object condition;
  condition["type"] = type;
  condition["status"] = is_true ? "True" : "False";
  condition["lastHeartbeatTime"] = now;
  condition["lastTransitionTime"] = now;
  condition["reason"] = reason;
  condition["message"] = message;
  return condition;
}

json::array NodeConditions(const std::string& now) {
  json::array conditions;
  conditions.push_back(Condition("MemoryPressure", false, "KubeletHasSufficientMemory",
                                 "kubelet has sufficient memory available", now));
  conditions.push_back(
      Condition("DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", now));
  conditions.push_back(Condition("PIDPressure", false, "KubeletHasSufficientPID",
                                 "kubelet has sufficient PID available", now));
  conditions.push_back(Condition("Ready", true, "KubeletReady", "kubelet is posting ready status", now));
  return conditions;
}

json::object RunningContainer(const json::object& container, const std::string& now) {
  json::object status;
  status["name"] = TextAt(container, {"name"});
  status["state"] = json::object({{"running", json::object({{"startedAt", now}})}});
  status["ready"] = true;
  status["started"] = true;
  status["restartCount"] = 0;
  status["image"] = TextAt(container, {"image"});
  status["imageID"] = "";
  return status;
}

std::optional<std::int64_t> NumberNoted(const json::object& pod, std::string_view annotation) {
  const std::string_view text = TextAt(pod, {"metadata", "annotations", annotation});
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool BelongsToJob(const json::object& pod) {
  const json::array* owners = FindArray(pod, {"metadata", "ownerReferences"});
  return owners != nullptr && std::ranges::any_of(*owners, [](const json::value& owner) {
           return owner.is_object() && TextAt(owner.get_object(), {"kind"}) == "Job";
         });
}

// How long the pod's program takes; nothing if it never ends by itself.
std::optional<std::int64_t> RunSeconds(const json::object& pod) {
  if (const std::optional<std::int64_t> seconds = NumberNoted(pod, kRunSeconds)) return seconds;
  return BelongsToJob(pod) ? std::optional(kJobSeconds) : std::nullopt;
}

}  // namespace

json::object MakeNode(int number, const std::string& now) {
  const std::string name = fmt::format("node-{}", number);
  json::object node;
  ObjectAt(node, {"metadata"})["name"] = name;
  json::object& labels = ObjectAt(node, {"metadata", "labels"});
  labels["kubernetes.io/hostname"] = name;
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  labels["topology.kubernetes.io/region"] = "sandbox";
  labels["topology.kubernetes.io/zone"] = fmt::format("zone-{}", (number - 1) % kZones + 1);
  json::object resources;
  resources["cpu"] = "8";
  resources["memory"] = "32Gi";
  resources["ephemeral-storage"] = "100Gi";
  resources["pods"] = "110";
  json::object& status = ObjectAt(node, {"status"});
  status["capacity"] = resources;
  status["allocatable"] = resources;
  status["conditions"] = NodeConditions(now);
  json::object address;
  address["type"] = "InternalIP";
  address["address"] = fmt::format("10.0.{}.{}", number / 250, number % 250 + 1);
  json::object host;
  host["type"] = "Hostname";
  host["address"] = name;
  status["addresses"] = json::array({std::move(address), std::move(host)});
  json::object& info = ObjectAt(node, {"status", "nodeInfo"});
  info["kubeletVersion"] = "v1.37.0";
  info["osImage"] = "berth sandbox";
  info["operatingSystem"] = "linux";
  info["architecture"] = "amd64";
  return node;
}

base::Result<void> AddNodes(ObjectWriter& writer, int count) {
  const Target target{.resource = &ResourceOf("v1", "Node")};
  for (int number = 1; number <= count; ++number) {
    const ApiResult<RevisionPtr> created = writer.Create(target, MakeNode(number, writer.TimeText()));
    if (!created) return base::Fail(created.error().message);
  }
  return {};
}

FakeKubelet::FakeKubelet(ControlPlane& plane, Timing timing)
    : plane_(plane),
      timing_(timing),
      pods_(ResourceOf("v1", "Pod")),
      nodes_(ResourceOf("v1", "Node")),
      leases_(ResourceOf("coordination.k8s.io/v1", "Lease")),
      subscription_(plane.store().Subscribe(Selection(pods_), *this)) {
  heartbeat_ = plane_.timers().Schedule(plane_.clock().Now(), [this] { Heartbeat(); });
  plane_.writer().ForEach(pods_, [&](const RevisionPtr& pod) { Consider(*pod); });
}

FakeKubelet::~FakeKubelet() {
  plane_.store().Unsubscribe(subscription_);
  plane_.timers().Cancel(heartbeat_);
  for (const auto& [key, timer] : due_) plane_.timers().Cancel(timer);
}

void FakeKubelet::OnChange(const Change& change, ChangeFrames&) {
  const std::string& key = change.object->key();
  if (change.type == wire::WatchType::kDeleted) {
    if (const auto it = due_.find(key); it != due_.end()) {
      plane_.timers().Cancel(it->second);
      due_.erase(it);
    }
    return;
  }
  Consider(*change.object);
}

void FakeKubelet::Consider(const Revision& revision) {
  if (revision.field(0).empty()) return;  // not bound
  const std::string& key = revision.key();
  const json::object pod = revision.Document();
  const std::string_view phase = TextAt(pod, {"status", "phase"});
  if (FindValue(pod, {"metadata", "deletionTimestamp"}) != nullptr) {
    const auto grace = std::chrono::seconds(NumberAt(pod, {"metadata", "deletionGracePeriodSeconds"}));
    LookAgain(key, std::min<base::Duration>(grace, timing_.stop));
  } else if (phase == "Pending") {
    LookAgain(key, timing_.start);
  } else if (phase == "Running") {
    if (const std::optional<std::int64_t> seconds = RunSeconds(pod))
      LookAgain(key, std::chrono::seconds(*seconds));
  }
}

void FakeKubelet::LookAgain(const std::string& key, base::Duration delay) {
  base::TimerQueue::TimerId& timer = due_[key];
  plane_.timers().Cancel(timer);
  timer = plane_.timers().Schedule(plane_.clock().Now() + delay, [this, key] { Look(key); });
}

void FakeKubelet::Look(const std::string& key) {
  due_.erase(key);
  const std::size_t slash = key.find('/');
  const RevisionPtr pod = plane_.store().Find(pods_, key.substr(0, slash), key.substr(slash + 1));
  if (pod == nullptr || pod->field(0).empty()) return;
  json::object document = pod->Document();
  if (FindValue(document, {"metadata", "deletionTimestamp"}) != nullptr) {
    const Target target{.resource = &pods_,
                        .namespace_name = std::string(pod->namespace_name()),
                        .name = std::string(pod->name())};
    // A finalizer may still hold it; then whoever put it there finishes the removal.
    static_cast<void>(plane_.writer().Delete(target, {.grace_seconds = 0, .uid = pod->uid()}));
    return;
  }
  const std::string_view phase = TextAt(document, {"status", "phase"});
  if (phase == "Pending")
    Start(pod, std::move(document));
  else if (phase == "Running" && RunSeconds(document))
    Finish(pod, std::move(document));
}

std::string FakeKubelet::NextAddress() {
  const std::uint32_t number = ++addresses_given_;
  return fmt::format("10.{}.{}.{}", 64 + (number >> 16) % 64, (number >> 8) & 0xff, number & 0xff);
}

void FakeKubelet::Start(const RevisionPtr& pod, json::object document) {
  const std::string now = plane_.writer().TimeText();
  json::object& status = ObjectAt(document, {"status"});
  status["phase"] = "Running";
  status["startTime"] = now;
  const std::string address = NextAddress();
  status["podIP"] = address;
  status["podIPs"] = json::array({json::object({{"ip", address}})});
  if (const RevisionPtr node = plane_.store().Find(nodes_, "", pod->field(0))) {
    const json::object host = node->Document();
    if (const json::array* addresses = FindArray(host, {"status", "addresses"});
        addresses && !addresses->empty()) {
      const std::string_view ip = TextAt(addresses->front().get_object(), {"address"});
      status["hostIP"] = ip;
      status["hostIPs"] = json::array({json::object({{"ip", json::string(ip)}})});
    }
  }
  json::array containers;
  if (const json::array* specified = FindArray(document, {"spec", "containers"})) {
    for (const json::value& container : *specified) {
      if (container.is_object()) containers.push_back(RunningContainer(container.get_object(), now));
    }
  }
  status["containerStatuses"] = std::move(containers);
  for (const std::string_view type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"}) {
    SetCondition(document, {type, "True"}, now);
  }
  Patch(pod, std::move(document));
}

void FakeKubelet::Finish(const RevisionPtr& pod, json::object document) {
  const std::string now = plane_.writer().TimeText();
  const std::int64_t exit_code = NumberNoted(document, kExitCode).value_or(0);
  const bool restarts = exit_code != 0 && TextAt(document, {"spec", "restartPolicy"}) != "Never";
  if (!restarts) ObjectAt(document, {"status"})["phase"] = exit_code == 0 ? "Succeeded" : "Failed";
  for (json::value& entry : ArrayAt(document, {"status", "containerStatuses"})) {
    if (!entry.is_object()) continue;
    json::object& container = entry.get_object();
    json::object terminated;
    terminated["exitCode"] = exit_code;
    terminated["reason"] = exit_code == 0 ? "Completed" : "Error";
    const std::string started(TextAt(container, {"state", "running", "startedAt"}));
    if (!started.empty()) terminated["startedAt"] = started;
    terminated["finishedAt"] = now;
    json::object ended({{"terminated", std::move(terminated)}});
    if (restarts) {
      container["lastState"] = std::move(ended);
      container["state"] = json::object({{"running", json::object({{"startedAt", now}})}});
      container["restartCount"] = NumberAt(container, {"restartCount"}) + 1;
      continue;
    }
    container["state"] = std::move(ended);
    container["ready"] = false;
    container["started"] = false;
  }
  if (!restarts) {
    const std::string_view reason = exit_code == 0 ? "PodCompleted" : "PodFailed";
    for (const std::string_view type : {"Ready", "ContainersReady"}) {
      SetCondition(document, {type, "False", reason}, now);
    }
  }
  Patch(pod, std::move(document));
}

// The pod may have been changed by others since it was read only if that happened in this very call, so a
// conflict cannot be: what is refused here is refused for good.
void FakeKubelet::Patch(const RevisionPtr& pod, json::object document) {
  const Target target{.resource = &pods_,
                      .namespace_name = std::string(pod->namespace_name()),
                      .name = std::string(pod->name()),
                      .subresource = "status"};
  static_cast<void>(plane_.writer().Update(target, std::move(document)));
}

void FakeKubelet::Heartbeat() {
  plane_.writer().ForEach(nodes_, [&](const RevisionPtr& node) { RenewLease(node->name()); });
  heartbeat_ = plane_.timers().Schedule(plane_.clock().Now() + timing_.heartbeat, [this] { Heartbeat(); });
}

// A node that somebody else made, from a manifest perhaps, is ready as soon as it has a kubelet.
void FakeKubelet::PostFirstStatus(std::string_view node) {
  const std::string now = plane_.writer().TimeText();
  static_cast<void>(
      plane_.writer().Change({.resource = &nodes_, .name = std::string(node), .subresource = "status"},
                             [&](const json::object& current) -> ApiResult<json::object> {
                               json::object changed = current;
                               if (FindArray(changed, {"status", "conditions"}) == nullptr) {
                                 ObjectAt(changed, {"status"})["conditions"] = NodeConditions(now);
                               }
                               return changed;
                             }));
}

void FakeKubelet::RenewLease(std::string_view node) {
  const auto now = plane_.clock().WallNow().time_since_epoch();
  const std::string time =
      api::FormatMicroTime({std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
  const Target target{
      .resource = &leases_, .namespace_name = std::string(kLeaseNamespace), .name = std::string(node)};
  const auto renew = [&](json::object lease) {
    json::object& spec = ObjectAt(lease, {"spec"});
    spec["holderIdentity"] = node;
    spec["leaseDurationSeconds"] = 40;
    spec["renewTime"] = time;
    return lease;
  };
  if (plane_.store().Find(leases_, kLeaseNamespace, node) != nullptr) {
    static_cast<void>(plane_.writer().Change(
        target, [&](const json::object& lease) -> ApiResult<json::object> { return renew(lease); }));
    return;
  }
  PostFirstStatus(node);
  json::object lease;
  ObjectAt(lease, {"metadata"})["name"] = node;
  static_cast<void>(plane_.writer().Create(target, renew(std::move(lease))));
}

}  // namespace berth::sandbox
