#include "bench/remote_cluster.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "bench/process_stats.h"
#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/transcode.h"

namespace berth::bench {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kReadyTimeout = seconds(60);
// A scheduler rests when it uses no more than this of such a time, twice in a row.
constexpr base::Duration kRestLook = milliseconds(100);
constexpr base::Duration kRestCost = milliseconds(3);
constexpr base::Duration kRestTimeout = seconds(3);

std::string PathOf(const sandbox::Target& target) {
  const sandbox::Resource& resource = *target.resource;
  std::string path = resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                            : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (!target.namespace_name.empty()) path += "/namespaces/" + target.namespace_name;
  path += fmt::format("/{}", resource.plural);
  if (!target.name.empty()) path += "/" + target.name;
  if (!target.subresource.empty()) path += "/" + target.subresource;
  return path;
}

RemoteApi::Request RequestFor(std::string method, const sandbox::Target& target) {
  RemoteApi::Request request{.method = std::move(method), .path = PathOf(target)};
  request.subject = {.method = {}, .resource = target.resource->QualifiedName(), .name = target.name};
  return request;
}

// A body that an API server reads at least cost. What cannot be said that way is for the server to refuse.
void SetCheapBody(RemoteApi::Request& request, const json::object& document) {
  if (auto body = wire::DocumentToEnvelope(document)) {
    request.content_type = client::kProtobufType;
    request.body = *std::move(body);
    return;
  }
  request.content_type = client::kJsonType;
  request.body = wire::WriteJson(document);
}

void SetJsonBody(RemoteApi::Request& request, const json::object& document) {
  request.content_type = client::kJsonType;
  request.body = wire::WriteJson(document);
  request.query = {{"fieldValidation", "Strict"}};
}

sandbox::StatusError ErrorOf(const client::ApiError& error) {
  sandbox::StatusError refused{.code = 0, .reason = {}, .message = error.message};
  if (error.status) {
    refused.code = static_cast<int>(error.status->code);
    refused.reason = error.status->reason;
  }
  return refused;
}

sandbox::ApiResult<json::object> ObjectOf(const RemoteApi::Response& response) {
  if (!response) return sandbox::Refuse(ErrorOf(response.error()));
  auto value = wire::ParseJson(response->body);
  if (!value || !value->is_object()) return json::object();
  return std::move(value->as_object());
}

sandbox::ApiResult<void> DoneOf(const RemoteApi::Response& response) {
  if (!response) return sandbox::Refuse(ErrorOf(response.error()));
  return {};
}

// The end of a log, for those who cannot look it up.
std::string LastLines(const std::filesystem::path& path) {
  constexpr std::size_t kLines = 3;
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kLines) lines.erase(lines.begin());
  }
  std::string text;
  for (const std::string& line : lines) text += "\n    " + line;
  return text;
}

}  // namespace

base::Result<std::unique_ptr<RemoteCluster>> RemoteCluster::Make(RemoteClusterOptions options) {
  std::unique_ptr<RemoteCluster> cluster(new RemoteCluster(std::move(options)));
  if (auto begun = cluster->Begin(); !begun) return std::unexpected(std::move(begun.error()));
  return cluster;
}

RemoteCluster::~RemoteCluster() {
  // The scheduler first, so that it has nothing to complain about.
  scheduler_.process.reset();
  api_.reset();
  plane_.process.reset();
}

base::Result<void> RemoteCluster::Begin() {
  folder_ = options_.logs;
  if (folder_.empty()) {
    auto made = TemporaryFolder::Make();
    if (!made) return std::unexpected(std::move(made.error()));
    folder_ = temporary_.emplace(*std::move(made)).path();
  }
  std::string kubeconfig = options_.kubeconfig;
  scheduler_kubeconfig_ = options_.scheduler_kubeconfig.empty() ? kubeconfig : options_.scheduler_kubeconfig;
  if (kubeconfig.empty()) {
    auto plane = LaunchControlPlane(options_.control_plane, options_.gates, folder_, options_.is_interrupted);
    if (!plane) {
      return base::Fail(plane.error().message + LastLines(folder_ / "control-plane.log"));
    }
    plane_ = *std::move(plane);
    kubeconfig = plane_.kubeconfig;
    scheduler_kubeconfig_ = plane_.scheduler_kubeconfig;
  }
  auto api = RemoteApi::Connect(kubeconfig);
  if (!api) return std::unexpected(std::move(api.error()));
  api_ = *std::move(api);
  if (!options_.kubeconfig.empty() && (!NodeNames().empty() || !Names("Pod").empty())) {
    return base::Fail(
        "the cluster has nodes or pods already: a workload measures itself only on an empty one");
  }
  return api_->WatchPods([this](const client::EventBatch& batch) { OnPods(batch); });
}

void RemoteCluster::StartScheduler() {
  auto launched = LaunchScheduler(options_.scheduler, options_.scheduler_config,
                                  {.kubeconfig = scheduler_kubeconfig_,
                                   .requests_per_second = options_.requests_per_second,
                                   .gates = options_.gates,
                                   .folder = folder_});
  if (!launched) {
    problem_ = launched.error().message;
    return;
  }
  scheduler_ = *std::move(launched);
  measured_ = {scheduler_.process->id()};
  if (scheduler_.port) AwaitReady();
}

void RemoteCluster::AwaitReady() {
  const base::TimePoint end = clock_.Now() + kReadyTimeout;
  while (!api_->FetchLocal(*scheduler_.port, "/readyz")) {
    if (scheduler_.process->Ended() || options_.is_interrupted()) return;
    if (clock_.Now() >= end) {
      problem_ = options_.scheduler.name + " does not become ready";
      return;
    }
    api_->RunUntil(clock_.Now() + milliseconds(20));
  }
}

std::string RemoteCluster::Problem() {
  if (!problem_.empty()) return problem_;
  if (plane_.process) {
    if (const auto ended = plane_.process->Ended()) {
      problem_ = "the control plane " + *ended + LastLines(plane_.process->log());
    }
  }
  if (scheduler_.process) {
    if (const auto ended = scheduler_.process->Ended()) {
      problem_ =
          fmt::format("{} {}{}", options_.scheduler.name, *ended, LastLines(scheduler_.process->log()));
    }
  }
  return problem_;
}

void RemoteCluster::OnPods(const client::EventBatch& batch) {
  if (observer_ == nullptr) return;
  for (const client::ObjectEvent& event : batch.events) {
    const api::PodRecord& pod = *std::get<client::Shared<api::PodRecord>>(event.object);
    const api::StringMap labels = pod.labels.ToMap();
    observer_->OnPod({.namespace_name = pod.namespace_,
                      .name = pod.name,
                      .labels = labels,
                      .is_gone = event.type == client::ObjectEvent::Type::kDelete,
                      .is_bound = !pod.node_name.empty()});
  }
}

void RemoteCluster::Complete(const sandbox::Target& target, json::object& document) {
  document["apiVersion"] = target.resource->api_version;
  document["kind"] = target.resource->kind;
  if (target.resource->kind == "Node") FillAllocatable(document);
  if (target.resource->kind != "Pod") return;
  if (auto priority = priorities_.Prepare(document)) {
    static_cast<void>(Create({.resource = &sandbox::ResourceOf("scheduling.k8s.io/v1", "PriorityClass")},
                             *std::move(priority)));
  }
}

sandbox::ApiResult<std::string> RemoteCluster::Create(const sandbox::Target& target, json::object document) {
  Complete(target, document);
  RemoteApi::Request request = RequestFor("POST", target);
  SetJsonBody(request, document);
  const auto created = ObjectOf(api_->Send(std::move(request)));
  if (!created) return sandbox::Refuse(created.error());
  return std::string(sandbox::TextAt(*created, {"metadata", "name"}));
}

sandbox::ApiResult<void> RemoteCluster::Update(const sandbox::Target& target, json::object document) {
  Complete(target, document);
  RemoteApi::Request request = RequestFor("PUT", target);
  SetJsonBody(request, document);
  return DoneOf(api_->Send(std::move(request)));
}

sandbox::ApiResult<void> RemoteCluster::MergePatch(const sandbox::Target& target, const json::object& patch) {
  RemoteApi::Request request = RequestFor("PATCH", target);
  request.content_type = client::kMergePatch;
  request.body = wire::WriteJson(patch);
  return DoneOf(api_->Send(std::move(request)));
}

sandbox::ApiResult<void> RemoteCluster::Delete(const sandbox::Target& target,
                                               std::optional<std::int64_t> grace_seconds) {
  json::object wish{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  if (grace_seconds) wish["gracePeriodSeconds"] = *grace_seconds;
  RemoteApi::Request request = RequestFor("DELETE", target);
  request.content_type = client::kJsonType;
  request.body = wire::WriteJson(wish);
  return DoneOf(api_->Send(std::move(request)));
}

std::optional<json::object> RemoteCluster::Get(const sandbox::Target& target) {
  auto found = ObjectOf(api_->Send(RequestFor("GET", target)));
  if (!found) return std::nullopt;
  return *std::move(found);
}

std::vector<std::string> RemoteCluster::Names(std::string_view kind) {
  std::vector<std::string> names;
  const auto list = Get({.resource = &sandbox::ResourceOf("v1", kind)});
  const json::array* const items = list ? sandbox::FindArray(*list, {"items"}) : nullptr;
  if (items == nullptr) return names;
  for (const json::value& item : *items) {
    names.emplace_back(sandbox::TextAt(item.as_object(), {"metadata", "name"}));
  }
  return names;
}

void RemoteCluster::WriteSoon(std::vector<Write> writes, WriteCallback done) {
  std::vector<RemoteApi::Request> requests;
  for (Write& write : writes) {
    Complete(write.target, write.document);
    requests.push_back(RequestFor(write.verb == Write::Verb::kCreate ? "POST" : "PUT", write.target));
    SetCheapBody(requests.back(), write.document);
    // Errors name it; its body is on its way.
    write.document = {};
  }
  api_->SendSoon(std::move(requests), [writes = std::move(writes), done = std::move(done)](
                                          std::size_t index, const RemoteApi::Response& response) {
    if (response) {
      done(nullptr, {});
    } else {
      done(&writes[index], ErrorOf(response.error()));
    }
  });
}

bool RemoteCluster::IsAttempted(const std::string& namespace_name, const std::string& name) {
  const api::PodRecord* const pod = api_->FindPod(namespace_name + "/" + name);
  return pod != nullptr && std::ranges::any_of(pod->conditions(), [](const api::PodCondition& condition) {
           return condition.type == "PodScheduled";
         });
}

Usage RemoteCluster::usage() const {
  Usage usage;
  for (const pid_t process : measured_) usage.cpu += ProcessorTimeOf(process);
  return usage;
}

std::int64_t RemoteCluster::PeakMemory() const {
  std::int64_t sum = 0;
  for (const pid_t process : measured_) sum += PeakMemoryOf(process);
  return sum;
}

void RemoteCluster::ResetPeakMemory() {
  FindMeasured();
  for (const pid_t process : measured_) ResetPeakMemoryOf(process);
}

std::string RemoteCluster::MetricsText() {
  if (!scheduler_.port) return {};
  return api_->FetchLocal(*scheduler_.port, "/metrics").value_or(std::string());
}

void RemoteCluster::FindMeasured() {
  if (scheduler_.process) measured_ = ProcessesOfGroup(scheduler_.process->id());
}

bool RemoteCluster::AwaitRest() {
  // Those that came while it was measured count whole.
  FindMeasured();
  const base::TimePoint end = clock_.Now() + kRestTimeout;
  int quiet = 0;
  while (quiet < 2 && clock_.Now() < end && !options_.is_interrupted()) {
    const base::Duration before = usage().cpu;
    api_->RunUntil(clock_.Now() + kRestLook);
    quiet = usage().cpu - before <= kRestCost ? quiet + 1 : 0;
  }
  return true;
}

base::Duration RemoteCluster::ProcessorTimeOfAll() const {
  base::Duration sum{};
  if (plane_.process) sum += ProcessorTimeOfGroup(plane_.process->id());
  if (scheduler_.process) sum += ProcessorTimeOfGroup(scheduler_.process->id());
  return sum;
}

}  // namespace berth::bench
