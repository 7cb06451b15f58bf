#include "net/net_error.h"

#include <cerrno>
#include <cstring>

namespace berth::net {

NetError FromErrno(int error) {
  NetError result{.kind = ErrorKind::kUnreachable, .message = std::strerror(error)};
  if (error == ECONNREFUSED) result.kind = ErrorKind::kRefused;
  if (error == ECONNRESET || error == EPIPE || error == ECONNABORTED) result.kind = ErrorKind::kReset;
  if (error == ETIMEDOUT) result.kind = ErrorKind::kTimeout;
  return result;
}

}  // namespace berth::net
