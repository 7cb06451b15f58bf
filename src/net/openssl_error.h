#pragma once

#include <string>

namespace berth::net {

// What OpenSSL noted about the last failure on this thread, and forgets it. "unknown error" if nothing.
std::string TakeOpenSslError();

}  // namespace berth::net
