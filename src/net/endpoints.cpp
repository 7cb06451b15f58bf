#include "net/endpoints.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cctype>
#include <chrono>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <utility>

#include "fmt/format.h"

#include "net/url.h"

namespace berth::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// Long enough not to spin when the process has no descriptor left, short enough for a client not to notice.
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

std::unique_ptr<Transport> Adopt(EventLoop& loop, tcp::socket socket) {
  const bool is_ipv6 = socket.local_endpoint().address().is_v6();
  return std::make_unique<Transport>(loop, socket.release(), is_ipv6);
}

// How many probes a peer may leave unanswered.
constexpr int kProbesMax = 3;

// A peer that vanished without a word (a pulled cable, a dead node) is noticed after a few of these.
void KeepAlive(tcp::socket& socket, base::Duration interval) {
  const auto seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(interval).count());
  error_code ignored;
  socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPCNT, &kProbesMax, sizeof(kProbesMax));
}

}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Impl> {
  Impl(EventLoop& owner, AcceptCallback callback)
      : loop(owner), acceptor(owner.context()), pause(owner), on_accept(std::move(callback)) {}

  void Accept() {
    acceptor.async_accept([weak = weak_from_this()](const error_code& error, tcp::socket socket) {
      const auto self = weak.lock();
      if (!self || !self->acceptor.is_open()) return;
      if (error) {
        self->pause.StartAfter(kAcceptPause, [weak] {
          if (const auto again = weak.lock()) again->Accept();
        });
        return;
      }
      error_code gone;  // the peer may have left the queue again
      socket.local_endpoint(gone);
      if (!gone) self->on_accept(Adopt(self->loop, std::move(socket)));
      if (self->acceptor.is_open()) self->Accept();
    });
  }

  EventLoop& loop;
  tcp::acceptor acceptor;
  Timer pause;
  AcceptCallback on_accept;
};

Listener::Listener(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Listener::~Listener() {
  error_code ignored;
  impl_->acceptor.close(ignored);
}

std::uint16_t Listener::port() const {
  error_code ignored;
  return impl_->acceptor.local_endpoint(ignored).port();
}

base::Result<std::unique_ptr<Listener>> Listener::Listen(EventLoop& loop, const ListenOptions& options,
                                                         AcceptCallback on_accept) {
  const auto& [host, port, shares_port] = options;
  const auto fail = [&](const error_code& why) {
    // In the words of Go's net, which operators know from kube-scheduler.
    std::string reason = why.message();
    if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
    return base::Fail(
        fmt::format("listen tcp {}: bind: {}", JoinHostPort(options.host, options.port), reason));
  };
  error_code error;
  tcp::endpoint endpoint(tcp::v6(), port);
  if (!host.empty()) {
    tcp::resolver resolver(loop.context());
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
    if (error) return fail(error);
    endpoint = found.begin()->endpoint();
  }
  auto impl = std::make_shared<Impl>(loop, std::move(on_accept));
  impl->acceptor.open(endpoint.protocol(), error);
  if (error && host.empty()) {  // a machine without IPv6
    endpoint = tcp::endpoint(tcp::v4(), port);
    impl->acceptor.open(endpoint.protocol(), error);
  }
  if (!error) impl->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && shares_port) {
    using SharePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
    impl->acceptor.set_option(SharePort(true), error);
  }
  if (!error) impl->acceptor.bind(endpoint, error);
  if (!error) impl->acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) return fail(error);
  impl->Accept();
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

struct Dial::Impl : std::enable_shared_from_this<Impl> {
  Impl(EventLoop& owner, base::Duration interval, DoneCallback callback)
      : loop(owner),
        resolver(owner.context()),
        socket(owner.context()),
        keep_alive(interval),
        done(std::move(callback)) {}

  void Resolve(const std::string& host, std::uint16_t port) {
    const auto on_found = [self = shared_from_this(), host](const error_code& error,
                                                            const tcp::resolver::results_type& found) {
      if (self->cancelled) return;
      if (error) {
        self->Fail({.kind = ErrorKind::kDns, .message = fmt::format("lookup {}: {}", host, error.message())});
      } else {
        self->Connect(found);
      }
    };
    error_code is_name;
    const auto address = boost::asio::ip::make_address(host, is_name);
    if (is_name) {
      resolver.async_resolve(host, std::to_string(port), on_found);
      return;
    }
    // An address needs no look-up, and the look-up would cost a thread.
    loop.Post([on_found, endpoint = tcp::endpoint(address, port)] {
      on_found({}, tcp::resolver::results_type::create(endpoint, "", ""));
    });
  }

  void Connect(const tcp::resolver::results_type& found) {
    boost::asio::async_connect(socket, found,
                               [self = shared_from_this()](const error_code& error, const tcp::endpoint&) {
                                 if (self->cancelled) return;
                                 error_code gone;
                                 if (!error) self->socket.local_endpoint(gone);
                                 if (error || gone) {
                                   self->Fail(FromErrno(error ? error.value() : gone.value()));
                                   return;
                                 }
                                 KeepAlive(self->socket, self->keep_alive);
                                 self->Finish(Adopt(self->loop, std::move(self->socket)));
                               });
  }

  void Fail(NetError error) { Finish(std::unexpected(std::move(error))); }
  // The callback may destroy the Dial, and with it this object's last reference but the caller's.
  void Finish(NetResult<std::unique_ptr<Transport>> result) {
    std::exchange(done, nullptr)(std::move(result));
  }

  EventLoop& loop;
  tcp::resolver resolver;
  tcp::socket socket;
  const base::Duration keep_alive;
  DoneCallback done;
  bool cancelled = false;
};

Dial::Dial(EventLoop& loop, const std::string& host, std::uint16_t port, base::Duration keep_alive,
           DoneCallback done)
    : impl_(std::make_shared<Impl>(loop, keep_alive, std::move(done))) {
  impl_->Resolve(host, port);
}

Dial::~Dial() {
  impl_->cancelled = true;
  impl_->resolver.cancel();
  error_code ignored;
  impl_->socket.close(ignored);
}

}  // namespace berth::net
