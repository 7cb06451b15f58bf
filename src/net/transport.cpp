#include "net/transport.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/check.h"
#include "net/openssl_error.h"
#include "net/url.h"

namespace berth::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kGatherMax = 256;
// One TLS record. A longer write would only be cut into records of this size.
constexpr std::size_t kRecordBytes = 16 * 1024;

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool IsAddress(const std::string& host) {
  error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

struct Transport::Impl {
  Impl(EventLoop& owner, tcp protocol, int native) : loop(owner), socket(owner.context(), protocol, native) {}

  Outcome Fail(NetError why) {
    error = std::move(why);
    return {Io::kFailed};
  }
  Outcome SslOutcome(int result);
  Outcome WriteTls(std::span<const std::string_view> pieces);

  EventLoop& loop;
  tcp::socket socket;
  std::shared_ptr<const TlsContext> context;
  std::unique_ptr<SSL, SslDeleter> ssl;
  bool handshake_done = false;
  bool tls_may_hold_bytes = false;
  NetError error;
};

// Called with the result of an SSL function that did not succeed.
Transport::Outcome Transport::Impl::SslOutcome(int result) {
  const int system_error = errno;
  switch (SSL_get_error(ssl.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Io::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      return {Io::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {Io::kEnd};
    case SSL_ERROR_SYSCALL:
      return Fail(FromErrno(system_error == 0 ? ECONNRESET : system_error));
    default:
      break;
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return Fail({.kind = ErrorKind::kReset, .message = "unexpected EOF"});
  }
  const long verdict = SSL_get_verify_result(ssl.get());
  std::string why = TakeOpenSslError();
  if (verdict != X509_V_OK) why += std::string(": ") + X509_verify_cert_error_string(verdict);
  return Fail({.kind = ErrorKind::kTls, .message = "tls: " + why});
}

Transport::Outcome Transport::Impl::WriteTls(std::span<const std::string_view> pieces) {
  std::string_view joined = pieces.front();
  if (joined.size() < kRecordBytes && pieces.size() > 1) {
    const std::span<char> scratch = loop.scratch();
    std::size_t used = 0;
    for (const std::string_view piece : pieces) {
      const std::size_t taken = std::min(piece.size(), kRecordBytes - used);
      std::memcpy(scratch.data() + used, piece.data(), taken);
      used += taken;
      if (used == kRecordBytes) break;
    }
    joined = {scratch.data(), used};
  }
  ERR_clear_error();
  errno = 0;
  const auto size = static_cast<int>(std::min(joined.size(), kRecordBytes));
  const int written = SSL_write(ssl.get(), joined.data(), size);
  if (written > 0) return {Io::kDone, static_cast<std::size_t>(written)};
  return SslOutcome(written);
}

Transport::Transport(EventLoop& loop, int native_socket, bool is_ipv6)
    : impl_(std::make_unique<Impl>(loop, is_ipv6 ? tcp::v6() : tcp::v4(), native_socket)) {
  error_code ignored;  // a socket that is already gone fails its first read
  impl_->socket.native_non_blocking(true, ignored);
  impl_->socket.set_option(tcp::no_delay(true), ignored);
}

Transport::~Transport() { Close(); }

void Transport::StartTlsServer(std::shared_ptr<const TlsContext> context) {
  impl_->context = std::move(context);
  impl_->ssl.reset(SSL_new(impl_->context->native()));
  BERTH_CHECK(impl_->ssl != nullptr);
  SSL_set_fd(impl_->ssl.get(), impl_->socket.native_handle());
  SSL_set_accept_state(impl_->ssl.get());
}

void Transport::StartTlsClient(std::shared_ptr<const TlsContext> context, const std::string& host) {
  impl_->context = std::move(context);
  impl_->ssl.reset(SSL_new(impl_->context->native()));
  BERTH_CHECK(impl_->ssl != nullptr);
  SSL* ssl = impl_->ssl.get();
  SSL_set_fd(ssl, impl_->socket.native_handle());
  SSL_set_connect_state(ssl);
  const std::string& name = impl_->context->server_name().empty() ? host : impl_->context->server_name();
  if (IsAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, name.c_str());
    SSL_set1_host(ssl, name.c_str());
  }
}

Transport::Io Transport::Handshake() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(impl_->ssl.get());
  if (result == 1) {
    impl_->handshake_done = true;
    impl_->tls_may_hold_bytes = true;  // the peer's first bytes may have come with its last of the handshake
    // A client has few connections of HTTP/2, with much to say: they keep their buffers. A server may have
    // thousands.
    SSL* ssl = impl_->ssl.get();
    if (SSL_is_server(ssl) == 0 && protocol() == kHttp2Protocol)
      SSL_clear_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    return Io::kDone;
  }
  const Io io = impl_->SslOutcome(result).io;
  if (io == Io::kEnd) return impl_->Fail({.kind = ErrorKind::kReset, .message = "unexpected EOF"}).io;
  return io;
}

Transport::Outcome Transport::Read(std::span<char> into) {
  if (!impl_->socket.is_open()) return impl_->Fail(FromErrno(EBADF));
  if (impl_->ssl) {
    ERR_clear_error();
    errno = 0;
    const int got = SSL_read(impl_->ssl.get(), into.data(), static_cast<int>(into.size()));
    impl_->tls_may_hold_bytes = got > 0;
    if (got > 0) return {Io::kDone, static_cast<std::size_t>(got)};
    return impl_->SslOutcome(got);
  }
  const ssize_t got = recv(impl_->socket.native_handle(), into.data(), into.size(), 0);
  if (got > 0) return {Io::kDone, static_cast<std::size_t>(got)};
  if (got == 0) return {Io::kEnd};
  if (WouldBlock(errno)) return {Io::kWantRead};
  return impl_->Fail(FromErrno(errno));
}

bool Transport::holds_bytes() const {
  // After a read that wanted more, what TLS still holds is the beginning of a record.
  return impl_->tls_may_hold_bytes && SSL_has_pending(impl_->ssl.get()) == 1;
}

Transport::Outcome Transport::Write(std::span<const std::string_view> pieces) {
  BERTH_DCHECK(!pieces.empty());
  if (!impl_->socket.is_open()) return impl_->Fail(FromErrno(EBADF));
  if (impl_->ssl) return impl_->WriteTls(pieces);
  std::array<iovec, kGatherMax> vectors;
  const std::size_t count = std::min(pieces.size(), kGatherMax);
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = {.iov_base = const_cast<char*>(pieces[i].data()), .iov_len = pieces[i].size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  const ssize_t sent = sendmsg(impl_->socket.native_handle(), &message, MSG_NOSIGNAL);
  if (sent >= 0) return {Io::kDone, static_cast<std::size_t>(sent)};
  if (WouldBlock(errno)) return {Io::kWantWrite};
  return impl_->Fail(FromErrno(errno));
}

void Transport::WaitReadable(Callback callback) {
  // Bytes that TLS has already taken from the socket would never wake a wait for the socket.
  if (holds_bytes()) {
    impl_->loop.Post(std::move(callback));
    return;
  }
  impl_->socket.async_wait(tcp::socket::wait_read,
                           [call = std::move(callback)](const error_code& error) mutable {
                             if (error != boost::asio::error::operation_aborted) call();
                           });
}

void Transport::WaitWritable(Callback callback) {
  impl_->socket.async_wait(tcp::socket::wait_write,
                           [call = std::move(callback)](const error_code& error) mutable {
                             if (error != boost::asio::error::operation_aborted) call();
                           });
}

void Transport::ShutdownSend() {
  if (impl_->ssl && impl_->handshake_done) SSL_shutdown(impl_->ssl.get());
  ERR_clear_error();
  error_code ignored;
  impl_->socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void Transport::Close() {
  if (!impl_->socket.is_open()) return;
  if (impl_->ssl && impl_->handshake_done) SSL_shutdown(impl_->ssl.get());
  ERR_clear_error();
  error_code ignored;
  impl_->socket.close(ignored);
}

const NetError& Transport::error() const { return impl_->error; }

std::string Transport::remote_address() const {
  error_code error;
  const tcp::endpoint endpoint = impl_->socket.remote_endpoint(error);
  return error ? "" : JoinHostPort(endpoint.address().to_string(), endpoint.port());
}

std::string_view Transport::protocol() const {
  if (!impl_->ssl) return {};
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(impl_->ssl.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::optional<PeerCertificate> Transport::PeerShown() const {
  const ClientTrust* const trust = impl_->context ? impl_->context->client_trust() : nullptr;
  if (!impl_->ssl || trust == nullptr) return std::nullopt;
  return trust->PeerOf(impl_->ssl.get());
}

}  // namespace berth::net
