#include "net/http_server.h"

#include <algorithm>
#include <utility>

#include "net/http1_server_connection.h"

namespace berth::net {

ResponseStream& ResponseStream::operator=(ResponseStream&& other) noexcept {
  Abort();
  connection_ = std::move(other.connection_);
  exchange_ = other.exchange_;
  return *this;
}

bool ResponseStream::is_open() const {
  const auto connection = connection_.lock();
  return connection && connection->IsCurrent(exchange_);
}

std::size_t ResponseStream::queued_bytes() const {
  const auto connection = connection_.lock();
  return connection && connection->IsCurrent(exchange_) ? connection->queued_bytes(exchange_) : 0;
}

bool ResponseStream::Write(Buffer data) {
  const auto connection = connection_.lock();
  return connection && connection->IsCurrent(exchange_) &&
         connection->WriteStream(exchange_, std::move(data));
}

void ResponseStream::Finish() {
  const auto connection = std::exchange(connection_, {}).lock();
  if (connection && connection->IsCurrent(exchange_)) connection->FinishStream(exchange_);
}

void ResponseStream::Abort() {
  const auto connection = std::exchange(connection_, {}).lock();
  if (connection && connection->IsCurrent(exchange_)) connection->AbortStream(exchange_);
}

void ResponseStream::Sever() {
  const auto connection = std::exchange(connection_, {}).lock();
  if (!connection || !connection->IsCurrent(exchange_)) return;
  connection->OnGone(exchange_, nullptr);
  connection->Sever();
}

void ResponseStream::OnGone(Callback callback) {
  const auto connection = connection_.lock();
  if (connection && connection->IsCurrent(exchange_)) connection->OnGone(exchange_, std::move(callback));
}

Responder::~Responder() {
  Send(500, {{"Content-Type", "text/plain; charset=utf-8"}}, MakeBody("no answer\n"));
}

void Responder::Send(int status, const Headers& headers, const Body& body) {
  const auto connection = std::exchange(connection_, {}).lock();
  if (connection && connection->IsCurrent(exchange_)) connection->Send(exchange_, status, headers, body);
}

ResponseStream Responder::StartStream(int status, const Headers& headers) {
  ResponseStream stream;
  stream.connection_ = std::exchange(connection_, {});
  stream.exchange_ = exchange_;
  const auto connection = stream.connection_.lock();
  if (connection && connection->IsCurrent(exchange_)) connection->StartStream(exchange_, status, headers);
  return stream;
}

void Responder::OnGone(Callback callback) {
  const auto connection = connection_.lock();
  if (connection && connection->IsCurrent(exchange_)) connection->OnGone(exchange_, std::move(callback));
}

void Responder::EndConnection() {
  const auto connection = connection_.lock();
  if (connection && connection->IsCurrent(exchange_)) connection->CloseWhenAnswered();
}

ServerState::ServerState(EventLoop& owner, HttpServerOptions wanted, HttpServer::Handler on_request)
    : loop(owner),
      options(std::move(wanted)),
      handler(std::move(on_request)),
      // Late by a sixteenth is good enough, and bounds what many staggered deadlines can cost.
      deadlines(owner,
                std::min({options.handshake_timeout, options.header_timeout, options.idle_timeout}) / 16,
                [this](base::TimePoint now) { return CloseLate(now); }),
      grace(owner) {}

// Looks at all of them: there are few where there is a limit, and each has cost an accept.
bool ServerState::MakeRoom() {
  if (options.connections_max == 0 || connections.size() < options.connections_max) return true;
  ++dropped;
  std::shared_ptr<ServerConnection> least;
  for (const auto& connection : connections) {
    if (!least || connection->claim() < least->claim()) least = connection;
  }
  if (!least || least->claim().first == ServerConnection::Claim::kAnswered) return false;
  least->Close();
  return true;
}

void ServerState::Accept(std::unique_ptr<Transport> transport) {
  if (!MakeRoom()) return;
  auto connection = std::make_shared<Http1ServerConnection>(*this, std::move(transport));
  connection->index = connections.size();
  connections.push_back(connection);
  connection->Start();
}

void ServerState::FlushSoon(std::shared_ptr<ServerConnection> connection) {
  if (to_flush.empty()) {
    loop.Post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      for (const auto& next : std::exchange(self->to_flush, {})) next->Flush();
    });
  }
  to_flush.push_back(std::move(connection));
}

void ServerState::Replace(const ServerConnection& connection, std::shared_ptr<ServerConnection> by) {
  by->index = connection.index;
  connections[connection.index] = std::move(by);
}

void ServerState::Remove(const ServerConnection& connection) {
  const std::size_t index = connection.index;
  connections.back()->index = index;
  std::swap(connections[index], connections.back());
  connections.pop_back();
  if (draining && connections.empty() && drained) loop.Post(std::exchange(drained, nullptr));
}

base::TimePoint ServerState::CloseLate(base::TimePoint now) {
  loop.Post([self = shared_from_this()] {});  // a callback may destroy the server, whose timer is running
  base::TimePoint earliest = DeadlineSweep::kNever;
  const auto all = connections;
  for (const auto& connection : all) {
    if (connection->deadline() <= now) connection->OnLate(now);
    earliest = std::min(earliest, connection->deadline());
  }
  return earliest;
}

HttpServer::HttpServer(std::shared_ptr<ServerState> state) : state_(std::move(state)) {}

base::Result<std::unique_ptr<HttpServer>> HttpServer::Listen(EventLoop& loop, HttpServerOptions options,
                                                             Handler handler) {
  auto state = std::make_shared<ServerState>(loop, std::move(options), std::move(handler));
  auto listener = Listener::Listen(
      loop,
      {.host = state->options.host, .port = state->options.port, .shares_port = state->options.shares_port},
      [state = state.get()](std::unique_ptr<Transport> transport) { state->Accept(std::move(transport)); });
  if (!listener) return std::unexpected(std::move(listener.error()));
  state->listener = std::move(*listener);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  state_->drained = nullptr;
  state_->listener.reset();
  while (!state_->connections.empty()) {
    const auto connection = state_->connections.back();
    connection->Close();
  }
}

std::uint16_t HttpServer::port() const { return state_->listener ? state_->listener->port() : 0; }
std::size_t HttpServer::connection_count() const { return state_->connections.size(); }
std::uint64_t HttpServer::dropped_count() const { return state_->dropped; }

void HttpServer::ReplaceTls(std::shared_ptr<const TlsContext> tls) { state_->options.tls = std::move(tls); }

void HttpServer::Drain(base::Duration grace, Callback drained) {
  state_->draining = true;
  state_->drained = std::move(drained);
  state_->listener.reset();
  const auto connections = state_->connections;
  for (const auto& connection : connections) connection->CloseWhenAnswered();
  if (state_->connections.empty()) {
    if (state_->drained) state_->loop.Post(std::exchange(state_->drained, nullptr));
    return;
  }
  state_->grace.StartAfter(grace, [state = state_.get()] {
    const auto late = state->connections;
    for (const auto& connection : late) connection->CutOff();
  });
}

}  // namespace berth::net
