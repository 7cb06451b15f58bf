#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/connection.h"
#include "client/loop_executor.h"
#include "client/reflector.h"

#include "base/clock.h"
#include "base/error.h"
#include "net/event_loop.h"
#include "net/http_client.h"

namespace berth::bench {

// An API server as a workload uses it, on one thread and without rate limits: requests that are waited for,
// requests beside each other, and a watch of all pods. Answers and events arrive only inside its calls.
class RemoteApi {
 public:
  using Request = client::ApiRequest;
  using Response = client::ApiResult<client::ApiResponse>;
  using PodSink = std::function<void(const client::EventBatch& batch)>;
  // Hears how the last request ended, or the first that failed, and which one that was.
  using ChainCallback = std::function<void(std::size_t index, const Response& response)>;

  // Chains of requests beside each other, as upstream's workers.
  static constexpr std::size_t kChainsMax = 30;

  static base::Result<std::unique_ptr<RemoteApi>> Connect(const std::string& kubeconfig);
  ~RemoteApi();
  RemoteApi(const RemoteApi&) = delete;
  RemoteApi& operator=(const RemoteApi&) = delete;

  // Follows all pods from now on. Fails if the present ones are not known soon.
  base::Result<void> WatchPods(PodSink sink);
  // The pod as last heard of; null: none.
  const api::PodRecord* FindPod(const std::string& key) const;

  Response Send(Request request);
  // One after another; waits while too many others are under way.
  void SendSoon(std::vector<Request> requests, ChainCallback done);
  // Until all of those have ended.
  void Settle();

  void RunUntil(base::TimePoint end);
  // A page that a program on this machine serves over TLS to anybody. Nothing if it does not answer, or
  // answers something else than success.
  std::optional<std::string> FetchLocal(std::uint16_t port, std::string path);

 private:
  RemoteApi();
  base::Task<void> RunChain(std::vector<Request> requests, ChainCallback done);

  net::EventLoop loop_;
  client::LoopExecutor executor_;
  net::Timer timer_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::ApiClient> client_;
  std::unique_ptr<client::ApiClient> watch_client_;
  api::SharedParts shared_;
  std::unique_ptr<client::Reflector> pods_;
  std::uint16_t local_port_ = 0;
  std::unique_ptr<net::HttpClient> local_;
  std::size_t chains_ = 0;
  // Last: the tasks refer to the rest.
  std::unique_ptr<base::TaskSet> tasks_;
};

}  // namespace berth::bench
