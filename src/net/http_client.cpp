#include "net/http_client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"

#include "net/client_connection.h"
#include "net/http2_connection.h"

namespace berth::net {
namespace {

// Of HTTP/1.1: a connection costs as much as many calls, so beyond a few another one is made only for a call
// that has waited. In a burst most find one that another call has left.
constexpr int kDialsAtOnce = 2;
constexpr int kFewConnections = 8;
constexpr base::Duration kPatience = std::chrono::milliseconds(30);

}  // namespace

struct HttpClient::Impl : std::enable_shared_from_this<Impl> {
  Impl(EventLoop& owner, HttpClientOptions wanted)
      : loop(owner),
        options(std::move(wanted)),
        deadlines(owner, base::Duration::zero(), [this](base::TimePoint now) { return EndLate(now); }),
        patience(owner) {
    hooks.on_idle = [this](ClientConnection& connection, std::shared_ptr<ClientCall> call) {
      OnIdle(connection, std::move(call));
    };
    hooks.on_failed = [this](ClientConnection& connection, std::shared_ptr<ClientCall> call, NetError error,
                             bool stale) { OnFailed(connection, std::move(call), std::move(error), stale); };
    hooks.on_deadline = [this](ClientConnection&, base::TimePoint deadline) { deadlines.Note(deadline); };
    hooks.on_made = [this](ClientConnection& connection, bool is_http2) { OnMade(connection, is_http2); };
    shared_hooks.on_ended = [this](std::shared_ptr<ClientCall> call) { EndCall(call, std::nullopt); };
    shared_hooks.on_lost = [this](Http2Connection::Lost lost, NetError error) { OnLost(lost, error); };
    shared_hooks.on_closed = [this](Http2Connection& connection, std::vector<Http2Connection::Lost> lost,
                                    NetError error) { OnClosed(connection, std::move(lost), error); };
    shared_hooks.on_deadline = [this](base::TimePoint deadline) { deadlines.Note(deadline); };
    shared_hooks.on_room = [this] {
      if (!waiting.empty()) StartSoon();
    };
  }

  CallId Start(ClientRequest request, StreamCallbacks callbacks, bool is_stream);
  void StartSoon();
  void StartWaiting();
  void OnIdle(ClientConnection& connection, std::shared_ptr<ClientCall> call);
  void OnFailed(ClientConnection& connection, std::shared_ptr<ClientCall> call, NetError error, bool stale);
  void OnMade(ClientConnection& connection, bool is_http2);
  void OnLost(const Http2Connection::Lost& lost, const NetError& error);
  void OnClosed(Http2Connection& connection, std::vector<Http2Connection::Lost> lost, const NetError& error);
  // Whether a connection that is being made may take all calls that wait.
  bool MayShare() const { return !speaks_http1 && options.tls && options.tls->offers_http2(); }
  bool MayDial(const ClientCall& call);
  bool StartShared(const std::shared_ptr<ClientCall>& call);
  bool IsFull() const {
    return options.connections_max != 0 && connections.size() + shared.size() >= options.connections_max;
  }
  void EndCall(const std::shared_ptr<ClientCall>& call, std::optional<NetError> error);
  // Takes the call from wherever it is, and ends it.
  void Withdraw(std::shared_ptr<ClientCall> call, NetError error);
  void Forget(ClientConnection& connection);
  base::TimePoint EndLate(base::TimePoint now);
  void Shutdown();

  EventLoop& loop;
  HttpClientOptions options;
  ClientConnection::Owner hooks;
  Http2Connection::Owner shared_hooks;
  DeadlineSweep deadlines;
  Timer patience;
  absl::flat_hash_map<CallId, std::shared_ptr<ClientCall>> calls;  // all that have not ended
  std::deque<std::shared_ptr<ClientCall>> waiting;                 // those without a connection
  std::vector<std::shared_ptr<ClientConnection>> connections;
  std::vector<std::shared_ptr<ClientConnection>> idle;  // the one used last is used next
  std::vector<std::shared_ptr<Http2Connection>> shared;
  CallId last_id = 0;
  std::uint64_t dialed = 0;
  std::uint64_t ended = 0;
  bool speaks_http1 = false;  // the server's choice in the last handshake
  bool start_queued = false;
  bool shut_down = false;
};

HttpClient::CallId HttpClient::Impl::Start(ClientRequest request, StreamCallbacks callbacks, bool is_stream) {
  auto call = std::make_shared<ClientCall>();
  call->id = ++last_id;
  call->request = std::move(request);
  call->callbacks = std::move(callbacks);
  call->is_stream = is_stream;
  call->began = loop.Now();
  if (call->request.timeout) {
    call->deadline = call->began + *call->request.timeout;
    deadlines.Note(call->deadline);
  }
  calls[call->id] = call;
  waiting.push_back(call);
  StartSoon();
  return call->id;
}

void HttpClient::Impl::StartSoon() {
  if (std::exchange(start_queued, true)) return;
  loop.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->shut_down) return;
    self->start_queued = false;
    self->StartWaiting();
  });
}

bool HttpClient::Impl::StartShared(const std::shared_ptr<ClientCall>& call) {
  const auto found = std::ranges::find_if(shared, [](const auto& one) { return one->has_room(); });
  if (found == shared.end()) return false;
  (*found)->Carry(call);
  return true;
}

bool HttpClient::Impl::MayDial(const ClientCall& call) {
  const auto dialing = std::ranges::count_if(connections, [](const auto& one) { return one->is_dialing(); });
  if (MayShare()) {
    return dialing == 0 && std::ranges::none_of(shared, [](const auto& one) { return one->is_new(); });
  }
  if (dialing >= kDialsAtOnce) return false;
  if (call.is_stream || call.resent) return true;
  const auto is_for_calls = [](const auto& one) { return !one->call() || !one->call()->is_stream; };
  if (std::ranges::count_if(connections, is_for_calls) < kFewConnections) return true;
  const base::Duration left = call.began + kPatience - loop.Now();
  if (left <= base::Duration::zero()) return true;
  patience.StartAfter(left, [this] { StartWaiting(); });
  return false;
}

void HttpClient::Impl::StartWaiting() {
  while (!waiting.empty()) {
    auto call = waiting.front();
    if (StartShared(call)) {
      waiting.pop_front();
      continue;
    }
    if (!idle.empty() && !call->resent) {
      const auto connection = idle.back();
      idle.pop_back();
      waiting.pop_front();
      connection->Carry(std::move(call));
      continue;
    }
    if (!MayDial(*call)) break;
    if (IsFull()) {
      if (idle.empty()) break;
      idle.front()->Close();  // a call that must not have a used connection makes room for a new one
      Forget(*idle.front());
    }
    waiting.pop_front();
    ++dialed;
    connections.push_back(std::make_shared<ClientConnection>(loop, options, hooks));
    const auto connection = connections.back();
    connection->DialFor(std::move(call));
  }
  const auto all = shared;  // a write that fails closes its connection
  for (const auto& connection : all) connection->Flush();
}

void HttpClient::Impl::OnMade(ClientConnection& connection, bool is_http2) {
  speaks_http1 = !is_http2;
  if (!waiting.empty()) StartSoon();
  if (!is_http2) return;
  const auto keep = connection.shared_from_this();
  auto [transport, call] = connection.Release();
  Forget(connection);
  shared.push_back(std::make_shared<Http2Connection>(loop, options, shared_hooks, std::move(transport)));
  shared.back()->Start();
  waiting.push_front(std::move(call));
  StartSoon();
}

void HttpClient::Impl::OnLost(const Http2Connection::Lost& lost, const NetError& error) {
  if (lost.may_resend && !lost.call->resent && !lost.call->ended) {
    lost.call->resent = true;
    waiting.push_front(lost.call);
    StartSoon();
  } else {
    EndCall(lost.call, error);
  }
}

void HttpClient::Impl::OnClosed(Http2Connection& connection, std::vector<Http2Connection::Lost> lost,
                                const NetError& error) {
  const auto self = shared_from_this();
  std::erase_if(shared, [&](const auto& other) { return other.get() == &connection; });
  if (!waiting.empty()) StartSoon();
  for (const Http2Connection::Lost& one : lost) OnLost(one, error);
}

void HttpClient::Impl::OnIdle(ClientConnection& connection, std::shared_ptr<ClientCall> call) {
  const auto self = shared_from_this();
  if (connection.is_idle()) {
    idle.push_back(connection.shared_from_this());
  } else {
    Forget(connection);
  }
  if (!waiting.empty()) StartSoon();
  EndCall(call, std::nullopt);
}

void HttpClient::Impl::OnFailed(ClientConnection& connection, std::shared_ptr<ClientCall> call,
                                NetError error, bool stale) {
  const auto self = shared_from_this();
  const auto keep = connection.shared_from_this();
  Forget(connection);
  const auto is_made = [](const auto& one) { return one->is_made(); };
  if (!connection.is_made() && (MayShare() || std::ranges::none_of(connections, is_made))) {
    // They waited for this connection, and the next would fail as well, each after its time-out.
    for (const auto& other : std::exchange(waiting, {})) EndCall(other, error);
  }
  if (!waiting.empty()) StartSoon();
  if (!call) return;
  if (stale && !call->resent) {
    call->resent = true;
    waiting.push_front(std::move(call));
    StartSoon();
    return;
  }
  EndCall(call, std::move(error));
}

void HttpClient::Impl::EndCall(const std::shared_ptr<ClientCall>& call, std::optional<NetError> error) {
  if (std::exchange(call->ended, true)) return;
  calls.erase(call->id);
  ++ended;
  if (error) {
    Url url = options.base;
    url.path.clear();
    url.query.clear();
    error->message = fmt::format("{} {}{}: {}", call->request.method, url.ToString(),
                                 JoinPath(options.base.path, call->request.target), error->message);
  }
  std::exchange(call->callbacks.on_end, nullptr)(std::move(error));
}

void HttpClient::Impl::Withdraw(std::shared_ptr<ClientCall> call, NetError error) {
  std::erase(waiting, call);
  if (const auto carrier = call->carrier.lock()) {
    carrier->Drop(*call);
    StartSoon();  // to send that
  }
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const auto connection = connections[i];
    if (connection->call() != call) continue;
    connection->Close();
    Forget(*connection);
    if (!waiting.empty()) StartSoon();
    break;
  }
  EndCall(call, std::move(error));
}

void HttpClient::Impl::Forget(ClientConnection& connection) {
  const auto is_it = [&](const auto& other) { return other.get() == &connection; };
  std::erase_if(idle, is_it);
  std::erase_if(connections, is_it);
}

base::TimePoint HttpClient::Impl::EndLate(base::TimePoint now) {
  loop.Post([self = shared_from_this()] {});  // a callback may destroy the client, whose timer is running
  std::vector<std::shared_ptr<ClientCall>> late_calls;
  for (const auto& [id, call] : calls) {
    if (call->deadline <= now) late_calls.push_back(call);
  }
  std::ranges::sort(late_calls, {}, &ClientCall::id);
  for (const auto& call : late_calls) {
    if (!call->ended) Withdraw(call, {ErrorKind::kTimeout, "the deadline has passed"});
  }
  const auto all = connections;
  for (const auto& connection : all) {
    if (connection->deadline() <= now && !shut_down) connection->TimeOut();
  }
  const auto all_shared = shared;
  for (const auto& connection : all_shared) {
    if (connection->deadline() <= now && !shut_down) connection->TimeOut();
  }
  base::TimePoint earliest = DeadlineSweep::kNever;
  for (const auto& [id, call] : calls) earliest = std::min(earliest, call->deadline);
  for (const auto& connection : connections) earliest = std::min(earliest, connection->deadline());
  for (const auto& connection : shared) earliest = std::min(earliest, connection->deadline());
  return earliest;
}

void HttpClient::Impl::Shutdown() {
  shut_down = true;
  patience.Cancel();
  waiting.clear();
  idle.clear();
  for (const auto& connection : std::exchange(connections, {})) connection->Close();
  for (const auto& connection : std::exchange(shared, {})) connection->Close();
  for (const auto& [id, call] : std::exchange(calls, {})) call->ended = true;
}

HttpClient::HttpClient(EventLoop& loop, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(options))) {}

HttpClient::~HttpClient() { impl_->Shutdown(); }

HttpClient::CallId HttpClient::Stream(ClientRequest request, StreamCallbacks callbacks) {
  return impl_->Start(std::move(request), std::move(callbacks), true);
}

namespace {
// A response on its way to whoever wants it whole.
struct Collected {
  explicit Collected(HttpClient::ResponseCallback callback) : done(std::move(callback)) {}

  HttpClient::CallId id = 0;
  std::size_t bytes_max = 0;
  ClientResponse response;
  HttpClient::ResponseCallback done;
};
}  // namespace

HttpClient::CallId HttpClient::Send(ClientRequest request, ResponseCallback done) {
  const auto collected = std::make_shared<Collected>(std::move(done));
  collected->bytes_max = request.response_bytes_max;
  StreamCallbacks callbacks;
  // A raw pointer each, which needs no memory of its own: the last of the three keeps it.
  callbacks.on_headers = [to = collected.get()](int status, Headers headers) {
    to->response.status = status;
    to->response.headers = std::move(headers);
  };
  callbacks.on_data = [to = collected.get(), impl = impl_.get()](std::string_view data) {
    std::string& body = to->response.body;
    if (data.size() <= to->bytes_max - body.size()) {
      body.append(data);
    } else if (const auto found = impl->calls.find(to->id); found != impl->calls.end()) {
      impl->Withdraw(found->second, {ErrorKind::kTooLarge, "the response is too large"});
    }
  };
  callbacks.on_end = [collected](std::optional<NetError> error) {
    if (error) {
      collected->done(std::unexpected(std::move(*error)));
    } else {
      collected->done(std::move(collected->response));
    }
  };
  return collected->id = impl_->Start(std::move(request), std::move(callbacks), false);
}

void HttpClient::Cancel(CallId id) {
  if (!impl_->calls.contains(id)) return;
  impl_->loop.Post([weak = std::weak_ptr<Impl>(impl_), id] {
    const auto impl = weak.lock();
    if (!impl || impl->shut_down) return;
    const auto found = impl->calls.find(id);
    if (found != impl->calls.end()) impl->Withdraw(found->second, {ErrorKind::kCancelled, "cancelled"});
  });
}

void HttpClient::ReplaceTls(std::shared_ptr<const TlsContext> tls, bool close_active) {
  impl_->options.tls = std::move(tls);
  std::vector<std::shared_ptr<ClientCall>> cut_off;
  const auto all = impl_->connections;
  for (const auto& connection : all) {
    if (!connection->is_idle() && !close_active) {
      connection->CloseAfterCall();
      continue;
    }
    if (auto call = connection->Close()) cut_off.push_back(std::move(call));
    impl_->Forget(*connection);
  }
  const auto all_shared = impl_->shared;
  for (const auto& connection : all_shared) {
    if (!connection->is_idle() && !close_active) {
      connection->CloseAfterCalls();
      continue;
    }
    for (Http2Connection::Lost& lost : connection->Close()) cut_off.push_back(std::move(lost.call));
    std::erase(impl_->shared, connection);
  }
  if (!cut_off.empty()) {
    impl_->loop.Post([weak = std::weak_ptr<Impl>(impl_), cut_off = std::move(cut_off)] {
      const auto impl = weak.lock();
      if (!impl) return;
      for (const auto& call : cut_off) impl->EndCall(call, NetError{ErrorKind::kReset, "new credentials"});
    });
  }
  if (!impl_->waiting.empty()) impl_->StartSoon();
}

void HttpClient::CloseIdle() {
  const auto all = impl_->connections;
  for (const auto& connection : all) {
    if (!connection->is_idle()) continue;
    connection->Close();
    impl_->Forget(*connection);
  }
  const auto all_shared = impl_->shared;
  for (const auto& connection : all_shared) connection->CloseAfterCalls();
}

HttpClient::Counts HttpClient::counts() const {
  const auto idle = std::ranges::count_if(impl_->shared, [](const auto& one) { return one->is_idle(); });
  return {.open = impl_->connections.size() + impl_->shared.size(),
          .idle = impl_->idle.size() + static_cast<std::size_t>(idle),
          .waiting_calls = impl_->waiting.size(),
          .calls = impl_->calls.size(),
          .ended = impl_->ended,
          .dialed = impl_->dialed};
}

}  // namespace berth::net
