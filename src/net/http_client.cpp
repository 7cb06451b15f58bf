#include "net/http_client.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "net/client_connection.h"

namespace berth::net {

struct HttpClient::Impl : std::enable_shared_from_this<Impl> {
  Impl(EventLoop& owner, HttpClientOptions wanted)
      : loop(owner),
        options(std::move(wanted)),
        deadlines(owner, base::Duration::zero(), [this](base::TimePoint now) { return EndLate(now); }) {
    hooks.on_idle = [this](ClientConnection& connection, std::shared_ptr<ClientCall> call) {
      OnIdle(connection, std::move(call));
    };
    hooks.on_failed = [this](ClientConnection& connection, std::shared_ptr<ClientCall> call, NetError error,
                             bool stale) { OnFailed(connection, std::move(call), std::move(error), stale); };
    hooks.on_deadline = [this](ClientConnection&, base::TimePoint deadline) { deadlines.Note(deadline); };
  }

  CallId Start(ClientRequest request, StreamCallbacks callbacks);
  void StartSoon();
  void StartWaiting();
  void OnIdle(ClientConnection& connection, std::shared_ptr<ClientCall> call);
  void OnFailed(ClientConnection& connection, std::shared_ptr<ClientCall> call, NetError error, bool stale);
  void EndCall(const std::shared_ptr<ClientCall>& call, std::optional<NetError> error);
  // Takes the call from wherever it is, and ends it.
  void Withdraw(std::shared_ptr<ClientCall> call, NetError error);
  void Forget(ClientConnection& connection);
  base::TimePoint EndLate(base::TimePoint now);
  void Shutdown();

  EventLoop& loop;
  HttpClientOptions options;
  ClientConnection::Owner hooks;
  DeadlineSweep deadlines;
  std::map<CallId, std::shared_ptr<ClientCall>> calls;  // all that have not ended
  std::deque<std::shared_ptr<ClientCall>> waiting;      // those without a connection
  std::vector<std::shared_ptr<ClientConnection>> connections;
  std::vector<std::shared_ptr<ClientConnection>> idle;  // the one used last is used next
  CallId last_id = 0;
  std::uint64_t dialed = 0;
  bool start_queued = false;
  bool shut_down = false;
};

HttpClient::CallId HttpClient::Impl::Start(ClientRequest request, StreamCallbacks callbacks) {
  auto call = std::make_shared<ClientCall>();
  call->id = ++last_id;
  call->request = std::move(request);
  call->callbacks = std::move(callbacks);
  if (call->request.timeout) {
    call->deadline = loop.Now() + *call->request.timeout;
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

void HttpClient::Impl::StartWaiting() {
  while (!waiting.empty()) {
    auto call = waiting.front();
    if (!idle.empty() && !call->resent) {
      const auto connection = idle.back();
      idle.pop_back();
      waiting.pop_front();
      connection->Carry(std::move(call));
      continue;
    }
    if (options.connections_max != 0 && connections.size() >= options.connections_max) {
      if (idle.empty()) return;
      idle.front()->Close();  // a call that must not have a used connection makes room for a new one
      Forget(*idle.front());
    }
    waiting.pop_front();
    ++dialed;
    connections.push_back(std::make_shared<ClientConnection>(loop, options, hooks));
    const auto connection = connections.back();
    connection->DialFor(std::move(call));
  }
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
  for (const auto& call : late_calls) {
    if (!call->ended) Withdraw(call, {ErrorKind::kTimeout, "the deadline has passed"});
  }
  const auto all = connections;
  for (const auto& connection : all) {
    if (connection->deadline() <= now && !shut_down) connection->TimeOut();
  }
  base::TimePoint earliest = DeadlineSweep::kNever;
  for (const auto& [id, call] : calls) earliest = std::min(earliest, call->deadline);
  for (const auto& connection : connections) earliest = std::min(earliest, connection->deadline());
  return earliest;
}

void HttpClient::Impl::Shutdown() {
  shut_down = true;
  waiting.clear();
  idle.clear();
  for (const auto& connection : std::exchange(connections, {})) connection->Close();
  for (const auto& [id, call] : std::exchange(calls, {})) call->ended = true;
}

HttpClient::HttpClient(EventLoop& loop, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(options))) {}

HttpClient::~HttpClient() { impl_->Shutdown(); }

HttpClient::CallId HttpClient::Stream(ClientRequest request, StreamCallbacks callbacks) {
  return impl_->Start(std::move(request), std::move(callbacks));
}

HttpClient::CallId HttpClient::Send(ClientRequest request, ResponseCallback done) {
  const auto collected = std::make_shared<ClientResponse>();
  const auto id = std::make_shared<CallId>(0);
  const std::size_t bytes_max = request.response_bytes_max;
  StreamCallbacks callbacks;
  callbacks.on_headers = [collected](int status, const Headers& headers) {
    collected->status = status;
    collected->headers = headers;
  };
  callbacks.on_data = [collected, bytes_max, id, weak = std::weak_ptr<Impl>(impl_)](std::string_view data) {
    std::string& body = collected->body;
    if (data.size() <= bytes_max - body.size()) {
      body.append(data);
      return;
    }
    const auto impl = weak.lock();
    if (!impl) return;
    if (const auto found = impl->calls.find(*id); found != impl->calls.end()) {
      impl->Withdraw(found->second, {ErrorKind::kTooLarge, "the response is too large"});
    }
  };
  callbacks.on_end = [collected, done = std::move(done)](std::optional<NetError> error) mutable {
    if (error) {
      done(std::unexpected(std::move(*error)));
    } else {
      done(std::move(*collected));
    }
  };
  *id = impl_->Start(std::move(request), std::move(callbacks));
  return *id;
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
  const auto all = impl_->connections;
  for (const auto& connection : all) {
    if (connection->is_idle()) {
      connection->Close();
      impl_->Forget(*connection);
    } else if (!close_active) {
      connection->CloseAfterCall();
    } else if (auto call = connection->Close()) {
      impl_->Forget(*connection);
      impl_->loop.Post([weak = std::weak_ptr<Impl>(impl_), call] {
        const auto impl = weak.lock();
        if (impl && !impl->shut_down) impl->EndCall(call, NetError{ErrorKind::kReset, "new credentials"});
      });
    }
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
}

HttpClient::Counts HttpClient::counts() const {
  return {.open = impl_->connections.size(),
          .idle = impl_->idle.size(),
          .waiting_calls = impl_->waiting.size(),
          .dialed = impl_->dialed};
}

}  // namespace berth::net
