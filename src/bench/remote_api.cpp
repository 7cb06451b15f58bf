#include "bench/remote_api.h"

#include <utility>

namespace berth::bench {
namespace {

using std::chrono::seconds;

constexpr base::Duration kRequestTimeout = seconds(60);
constexpr base::Duration kLocalTimeout = seconds(5);
constexpr base::Duration kSyncTimeout = seconds(60);

client::ApiClientOptions OptionsFor(std::string accept) {
  client::ApiClientOptions options{.user_agent = "berth-bench"};
  options.accept = std::move(accept);
  options.rate = {.per_second = -1, .burst = 0};
  return options;
}

}  // namespace

RemoteApi::RemoteApi() : executor_(loop_), timer_(loop_) {}

RemoteApi::~RemoteApi() = default;

base::Result<std::unique_ptr<RemoteApi>> RemoteApi::Connect(const std::string& kubeconfig) {
  auto config = client::LoadConnectionConfig(kubeconfig, "", client::Surroundings::OfThisProcess());
  if (!config) return std::unexpected(std::move(config.error()));
  std::unique_ptr<RemoteApi> api(new RemoteApi);
  auto connection =
      client::Connection::Make(api->executor_, *std::move(config), client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  api->connection_ = *std::move(connection);
  const auto make_client = [&](std::string accept) {
    return std::make_unique<client::ApiClient>(api->executor_.executor(), api->connection_->transport(),
                                               api->connection_->credentials(),
                                               OptionsFor(std::move(accept)));
  };
  api->client_ = make_client(std::string(client::kJsonType));
  // As schedulers watch, so that a server writes each event once for all of them.
  api->watch_client_ = make_client("application/vnd.kubernetes.protobuf, */*");
  api->tasks_ = std::make_unique<base::TaskSet>(api->executor_.executor());
  return api;
}

base::Result<void> RemoteApi::WatchPods(PodSink sink) {
  pods_ = std::make_unique<client::Reflector>(*watch_client_, shared_,
                                              client::Reflector::Options{.resource = client::Resource::kPods},
                                              std::move(sink));
  tasks_->Spawn(pods_->Run());
  executor_.Wake();
  const base::TimePoint end = loop_.Now() + kSyncTimeout;
  while (!pods_->has_synced() && loop_.Now() < end) RunUntil(loop_.Now() + std::chrono::milliseconds(10));
  if (!pods_->has_synced()) return base::Fail("the API server does not tell about pods");
  return {};
}

const api::PodRecord* RemoteApi::FindPod(const std::string& key) const {
  const client::Object* const found = pods_ ? pods_->store().Find(key) : nullptr;
  return found == nullptr ? nullptr : std::get<client::Shared<api::PodRecord>>(*found).get();
}

base::Task<void> RemoteApi::RunChain(std::vector<Request> requests, ChainCallback done) {
  std::size_t index = 0;
  for (; index + 1 < requests.size(); ++index) {
    Response response = co_await client_->Send(std::move(requests[index]));
    if (!response) {
      --chains_;
      done(index, response);
      co_return;
    }
  }
  const Response response = co_await client_->Send(std::move(requests[index]));
  --chains_;
  done(index, response);
}

RemoteApi::Response RemoteApi::Send(Request request) {
  std::optional<Response> answer;
  request.timeout = kRequestTimeout;
  std::vector<Request> one;
  one.push_back(std::move(request));
  ++chains_;
  tasks_->Spawn(
      RunChain(std::move(one), [&answer](std::size_t, const Response& response) { answer = response; }));
  executor_.Wake();
  while (!answer && loop_.RunOne()) continue;
  return *std::move(answer);
}

void RemoteApi::SendSoon(std::vector<Request> requests, ChainCallback done) {
  while (chains_ >= kChainsMax && loop_.RunOne()) continue;
  for (Request& request : requests) request.timeout = kRequestTimeout;
  ++chains_;
  tasks_->Spawn(RunChain(std::move(requests), std::move(done)));
  executor_.Wake();
}

void RemoteApi::Settle() {
  while (chains_ > 0 && loop_.RunOne()) continue;
}

void RemoteApi::RunUntil(base::TimePoint end) {
  if (loop_.Now() >= end) return;
  bool is_over = false;
  timer_.StartAt(end, [&is_over] { is_over = true; });
  while (!is_over && loop_.RunOne()) continue;
}

std::optional<std::string> RemoteApi::FetchLocal(std::uint16_t port, std::string path) {
  if (std::exchange(local_port_, port) != port || !local_) {
    auto tls = net::TlsContext::ForClient({.insecure = true});
    if (!tls) return std::nullopt;
    net::HttpClientOptions options{.base = {.scheme = "https", .host = "127.0.0.1", .port = port},
                                   .tls = *std::move(tls),
                                   .proxy = std::nullopt};
    local_ = std::make_unique<net::HttpClient>(loop_, std::move(options));
  }
  std::optional<net::NetResult<net::ClientResponse>> answer;
  local_->Send({.target = std::move(path), .timeout = kLocalTimeout},
               [&answer](net::NetResult<net::ClientResponse> response) { answer = std::move(response); });
  while (!answer && loop_.RunOne()) continue;
  if (!*answer || (*answer)->status != 200) return std::nullopt;
  return std::move((*answer)->body);
}

}  // namespace berth::bench
