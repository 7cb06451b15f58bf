#pragma once

#include <expected>
#include <string>

namespace berth::net {

// What a caller may react to differently.
enum class ErrorKind {
  kRefused,      // nobody listens there
  kReset,        // the connection broke
  kUnreachable,  // no way to the host, or some other failure of the network
  kTimeout,
  kTls,
  kDns,
  kProtocol,  // the peer does not speak HTTP as it should
  kTooLarge,  // the response is longer than the caller wants it
  kCancelled,
};

struct NetError {
  ErrorKind kind = ErrorKind::kUnreachable;
  std::string message;  // with the URL, once it leaves the client

  bool operator==(const NetError&) const = default;
};

NetError FromErrno(int error);

template <class T>
using NetResult = std::expected<T, NetError>;

}  // namespace berth::net
