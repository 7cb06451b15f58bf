#include "client/http_transport.h"

#include <deque>
#include <utility>

#include "client/deadline.h"

#include "base/event.h"
#include "base/future.h"

namespace berth::client {
namespace {

// What the callbacks of a stream leave for the task that reads it.
struct StreamState {
  explicit StreamState(base::Executor& executor) : changed(executor) {}

  bool has_headers = false;
  int status = 0;
  net::Headers headers;
  std::deque<std::string> chunks;
  bool ended = false;
  std::optional<net::NetError> error;
  base::Event changed;
};

}  // namespace

// A request on its way. Ends with the frame of the task that waits for it.
class HttpTransport::Call {
 public:
  explicit Call(net::HttpClient& http) : http_(http) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (id_ != 0) http_.Cancel(id_);
  }

  void Start(net::HttpClient::CallId id) { id_ = id; }

 private:
  net::HttpClient& http_;
  net::HttpClient::CallId id_ = 0;
};

class HttpTransport::Stream final : public OpenResponse {
 public:
  Stream(std::shared_ptr<StreamState> state, std::unique_ptr<Call> call)
      : state_(std::move(state)), call_(std::move(call)) {
    status = state_->status;
    headers = std::move(state_->headers);
  }

  base::Task<net::NetResult<std::optional<std::string>>> Read(base::CancellationToken token) override {
    while (state_->chunks.empty() && !state_->ended) {
      state_->changed.Reset();
      const base::WaitResult waited = co_await state_->changed.WaitFor(token);
      if (waited == base::WaitResult::kCancelled) {
        co_return std::unexpected(net::NetError{net::ErrorKind::kCancelled, "cancelled"});
      }
    }
    if (!state_->chunks.empty()) {
      std::string chunk = std::move(state_->chunks.front());
      state_->chunks.pop_front();
      co_return std::optional<std::string>(std::move(chunk));
    }
    if (state_->error) co_return std::unexpected(*state_->error);
    co_return std::optional<std::string>();
  }

 private:
  std::shared_ptr<StreamState> state_;
  std::unique_ptr<Call> call_;
};

HttpTransport::HttpTransport(LoopExecutor& executor, net::HttpClientOptions options)
    : executor_(executor), http_(executor.loop(), std::move(options)) {}

HttpTransport::~HttpTransport() = default;

base::Task<net::NetResult<net::ClientResponse>> HttpTransport::Send(net::ClientRequest request) {
  base::Promise<net::NetResult<net::ClientResponse>> promise(executor_.executor());
  auto future = promise.future();
  Call call(http_);
  call.Start(http_.Send(std::move(request), [this, promise = std::move(promise)](auto result) mutable {
    promise.Set(std::move(result));
    executor_.Wake();
  }));
  auto result = co_await future.Get();
  if (!result) co_return std::unexpected(net::NetError{net::ErrorKind::kCancelled, "the client has ended"});
  co_return std::move(*result);
}

base::Task<net::NetResult<std::unique_ptr<OpenResponse>>> HttpTransport::Open(net::ClientRequest request) {
  const auto state = std::make_shared<StreamState>(executor_.executor());
  const auto notify = [this, state] {
    state->changed.Set();
    executor_.Wake();
  };
  const std::optional<base::Duration> timeout = std::exchange(request.timeout, std::nullopt);
  auto call = std::make_unique<Call>(http_);
  call->Start(http_.Stream(std::move(request), {.on_headers =
                                                    [state, notify](int status, const net::Headers& headers) {
                                                      state->has_headers = true;
                                                      state->status = status;
                                                      state->headers = headers;
                                                      notify();
                                                    },
                                                .on_data =
                                                    [state, notify](std::string_view data) {
                                                      state->chunks.emplace_back(data);
                                                      notify();
                                                    },
                                                .on_end =
                                                    [state, notify](std::optional<net::NetError> error) {
                                                      state->ended = true;
                                                      state->error = std::move(error);
                                                      notify();
                                                    }}));
  const Deadline deadline(executor_.executor(), timeout);
  while (!state->has_headers && !state->ended) {
    state->changed.Reset();
    const base::WaitResult waited = co_await state->changed.WaitFor(deadline.token());
    if (waited == base::WaitResult::kCancelled) {
      co_return std::unexpected(net::NetError{net::ErrorKind::kTimeout, "no answer in time"});
    }
  }
  if (!state->has_headers)
    co_return std::unexpected(state->error.value_or(net::NetError{net::ErrorKind::kReset, "unexpected EOF"}));
  co_return std::make_unique<Stream>(state, std::move(call));
}

}  // namespace berth::client
