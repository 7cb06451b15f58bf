#include <benchmark/benchmark.h>
#include <boost/json.hpp>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <variant>
#include <vector>

#include "client/answer_pace.h"
#include "client/connection.h"
#include "client/pod_writer.h"
#include "client/reflector.h"

#include "wire/realistic_pods.h"

// What a client costs on a server that listens: BERTH_BENCH_KUBECONFIG says where, tools/bench-client starts
// one. Load fills the server; Follow takes in its pods, binds some of them and waits for the event that
// follows each.
namespace berth::client {
namespace {

namespace json = boost::json;

constexpr std::size_t kWorkers = 16;

std::size_t NumberFrom(const char* name, std::size_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoul(text);
}

std::size_t PodCount() { return NumberFrom("BERTH_BENCH_PODS", 50'000); }

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A connection and a client that is not limited.
struct Client {
  explicit Client(const std::string& kubeconfig) {
    const Surroundings around = Surroundings::OfThisProcess();
    auto config = LoadConnectionConfig(kubeconfig, "", around);
    if (!config) throw std::runtime_error(config.error().message);
    auto made = Connection::Make(executor, *std::move(config), around);
    if (!made) throw std::runtime_error(made.error().message);
    connection = *std::move(made);
    ApiClientOptions options;
    options.user_agent = "berth-bench";
    options.rate.per_second = 0;
    api = std::make_unique<ApiClient>(executor.executor(), connection->transport(), connection->credentials(),
                                      std::move(options));
    // As the scheduler's process does.
    loop.SetPace(AnswerPace::kMin);
    loop.OnRest([this](net::EventLoop::Rest) {
      loop.SetPace(pace.Next(connection->http().counts()));
      if (is_done()) loop.Stop();
    });
  }
  void RunUntil(std::function<bool()> condition) {
    is_done = std::move(condition);
    executor.Wake();
    loop.Run();
  }

  net::EventLoop loop;
  LoopExecutor executor{loop};
  std::unique_ptr<Connection> connection;
  std::unique_ptr<ApiClient> api;
  AnswerPace pace;
  std::function<bool()> is_done;
};

void Need(const ApiResult<ApiResponse>& response) {
  if (!response) throw std::runtime_error(response.error().message);
}

ApiRequest Creation(std::string path, const json::value& object) {
  ApiRequest request;
  request.method = "POST";
  request.path = std::move(path);
  request.content_type = std::string(kJsonType);
  request.body = json::serialize(object);
  return request;
}

ApiRequest CreationOfNamespace(std::size_t number) {
  return Creation("/api/v1/namespaces", {{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"metadata", {{"name", fmt::format("team-{}", number)}}}});
}

// A pod that no node has yet.
ApiRequest CreationOfPod(std::size_t number) {
  json::value pod = json::parse(wire::test::RealisticPods::Json(number));
  json::object& object = pod.as_object();
  object["apiVersion"] = "v1";
  object["kind"] = "Pod";
  object.erase("status");
  object.at("spec").as_object().erase("nodeName");
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "generation"}) {
    object.at("metadata").as_object().erase(key);
  }
  const std::string name_space(object.at("metadata").at("namespace").as_string());
  return Creation("/api/v1/namespaces/" + name_space + "/pods", pod);
}

base::Task<void> Create(Client& client, std::size_t& next, std::size_t& done) {
  while (next < PodCount()) {
    Need(co_await client.api->Send(CreationOfPod(next++)));
    ++done;
  }
}

base::Task<void> CreateNamespaces(Client& client, bool& done) {
  constexpr std::size_t kNamespaces = 10;
  for (std::size_t i = 0; i < kNamespaces; ++i) Need(co_await client.api->Send(CreationOfNamespace(i)));
  done = true;
}

void Load(benchmark::State& state) {
  const char* const kubeconfig = std::getenv("BERTH_BENCH_KUBECONFIG");
  if (kubeconfig == nullptr) return state.SkipWithError("BERTH_BENCH_KUBECONFIG is not set");
  for (auto unused : state) {
    Client client(kubeconfig);
    bool has_namespaces = false;
    client.executor.Spawn(CreateNamespaces(client, has_namespaces));
    client.RunUntil([&] { return has_namespaces; });
    std::size_t next = 0;
    std::size_t done = 0;
    for (std::size_t i = 0; i < kWorkers; ++i) client.executor.Spawn(Create(client, next, done));
    client.RunUntil([&] { return done == PodCount(); });
  }
}
BENCHMARK(Load)->Iterations(1)->Unit(benchmark::kSecond);

struct Unbound {
  PodName pod;
  std::string node;
};

base::Task<void> Bind(PodWriter& writer, std::deque<Unbound>& pods) {
  while (!pods.empty()) {
    Unbound next = std::move(pods.front());
    pods.pop_front();
    const auto bound = co_await writer.Bind(std::move(next.pod), std::move(next.node));
    if (!bound) throw std::runtime_error(bound.error().message);
  }
}

void Follow(benchmark::State& state) {
  const char* const kubeconfig = std::getenv("BERTH_BENCH_KUBECONFIG");
  if (kubeconfig == nullptr) return state.SkipWithError("BERTH_BENCH_KUBECONFIG is not set");
  const std::size_t wanted = NumberFrom("BERTH_BENCH_BINDINGS", 20'000);
  for (auto unused : state) {
    Client client(kubeconfig);
    api::SharedParts shared;
    std::deque<Unbound> unbound;
    std::size_t bound = 0;
    const double before = CpuSeconds();
    Reflector reflector(
        *client.api, shared, {.resource = Resource::kPods, .seed = 1}, [&](const EventBatch& batch) {
          for (const ObjectEvent& event : batch.events) {
            const api::PodRecord& pod = *std::get<Shared<api::PodRecord>>(event.object);
            if (event.type == ObjectEvent::Type::kUpdate && !pod.node_name.empty()) ++bound;
            if (event.type == ObjectEvent::Type::kAdd && pod.node_name.empty() && unbound.size() < wanted) {
              unbound.push_back(
                  {{pod.namespace_, pod.name, pod.uid}, fmt::format("node-{}", unbound.size() % 10 + 1)});
            }
          }
        });
    base::TaskSet tasks(client.executor.executor());
    tasks.Spawn(reflector.Run());
    client.RunUntil([&] { return reflector.has_synced(); });
    const double synced = CpuSeconds();
    const std::size_t bindings = unbound.size();
    PodWriter writer(*client.api, base::Random(1));
    for (std::size_t i = 0; i < kWorkers; ++i) tasks.Spawn(Bind(writer, unbound));
    client.RunUntil([&] { return bound == bindings; });
    const double done = CpuSeconds();
    state.counters["list_cpu_seconds"] = synced - before;
    state.counters["pods"] = static_cast<double>(reflector.store().size());
    state.counters["bind_cpu_seconds"] = done - synced;
    state.counters["bindings"] = static_cast<double>(bindings);
  }
}
BENCHMARK(Follow)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace berth::client
