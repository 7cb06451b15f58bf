#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "net/deadline_sweep.h"
#include "net/http_client.h"

namespace berth::net {

class Http2Connection;

// One request on its way, from Send or Stream to its last callback.
struct ClientCall {
  HttpClient::CallId id = 0;
  ClientRequest request;
  StreamCallbacks callbacks;
  base::TimePoint began = {};
  base::TimePoint deadline = DeadlineSweep::kNever;
  std::weak_ptr<Http2Connection> carrier;  // of a call that shares its connection
  std::int32_t stream = 0;                 // there
  bool is_stream = false;                  // it may hold its connection for long
  bool resent = false;                     // then it wants a new connection
  bool answered = false;                   // the header of its response has come
  bool ended = false;
};

// Whether sending the request twice does no harm.
inline bool MayRepeat(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" || method == "DELETE";
}

// Whether a length is said of its body though there is none.
inline bool UsuallyHasBody(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace berth::net
