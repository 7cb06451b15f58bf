#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_client.h"
#include "net/http_message.h"
#include "net/net_error.h"
#include "net/url.h"

namespace berth::net {

// The frames of one HTTP/2 connection, seen from the client: requests and bytes go in, bytes and answers come
// out. It has no socket and no clock.
class Http2Session {
 public:
  using StreamId = std::int32_t;

  // Called inside Receive and TakeOutput. They may call Submit and Cancel, and must not destroy the session.
  struct Events {
    std::function<void(StreamId, int status, Headers headers)> on_headers;
    std::function<void(StreamId, std::string_view data)> on_data;
    // Last. `untouched`: the server has not begun to work on the request, so it may be sent elsewhere.
    std::function<void(StreamId, std::optional<NetError> error, bool untouched)> on_end;
  };

  // Of the headers of answers those with these names, in small letters; of none: all.
  explicit Http2Session(Events events, std::vector<std::string> wanted_headers = {});
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // Whether another request would be sent at once: the server allows so many at a time, and none once it has
  // said that it goes away.
  bool has_room() const;
  // Whether the server has said what it allows, as it does first of all.
  bool knows_settings() const;
  // Whether the server has said so, or the numbers of streams are used up.
  bool is_leaving() const;
  // Whether nothing more will be said: one side broke the rules, and the other has been told.
  bool is_over() const;
  // Streams that have not ended.
  std::size_t streams() const;

  // Zero if there is no room. Headers that belong to a connection of HTTP/1.1 are left out.
  StreamId Submit(const ClientRequest& request, const Url& base);
  // Nothing more is said of the stream.
  void Cancel(StreamId stream);
  void Ping();

  // An error ends the connection: the peer does not speak HTTP/2.
  NetResult<void> Receive(std::string_view bytes);
  // Appends what is to be sent, at least `bytes` of it if there is as much.
  NetResult<void> TakeOutput(std::string& out, std::size_t bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
