#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"
#include "net/http_parser.h"
#include "net/net_error.h"

namespace berth::net {

// How a client that speaks HTTP/2 begins.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// The frames of one HTTP/2 connection, seen from the server: bytes go in, requests come out, answers go in,
// bytes come out. It has no socket and no clock, and calls nobody.
//
// A stream is open from the moment its request is taken until its answer is finished or aborted, or its
// client has left; calls for a stream that is not open are not allowed, except IsOpen.
class Http2ServerSession {
 public:
  using StreamId = std::int32_t;

  struct Options {
    ParserLimits limits;
    std::size_t requests_bytes_max = 0;  // of all streams until they are answered; 0: as `limits` allow
    std::uint32_t streams_max = 250;
  };
  struct Request {
    StreamId stream = 0;
    std::string method;
    std::string target;
    Headers headers;
    std::string body;
  };

  explicit Http2ServerSession(const Options& options);
  ~Http2ServerSession();
  Http2ServerSession(const Http2ServerSession&) = delete;
  Http2ServerSession& operator=(const Http2ServerSession&) = delete;

  // An error ends the connection: the peer does not speak HTTP/2. One that speaks it badly is told so in the
  // output, and `is_over` thereafter.
  NetResult<void> Receive(std::string_view bytes);
  // Whole requests since the last call. What was reset meanwhile is not among them.
  std::vector<Request> TakeRequests();
  // Open streams whose clients have left since the last call, or were sent away.
  std::vector<StreamId> TakeGone();
  // Appends what is to be sent, at least `bytes` of it if there is as much.
  NetResult<void> TakeOutput(std::string& out, std::size_t bytes);

  bool IsOpen(StreamId stream) const;
  void Answer(StreamId stream, int status, const Headers& headers, const Body& body);
  void Begin(StreamId stream, int status, const Headers& headers);
  void Write(StreamId stream, Buffer data);
  void Finish(StreamId stream);
  void Abort(StreamId stream);
  // Bytes of the answer that no frame holds yet.
  std::size_t queued(StreamId stream) const;

  // The client has sent its settings, as it does first of all.
  bool is_greeted() const;
  // Streams that have not ended: requests that are coming in, in hand, or whose answers are going out.
  std::size_t streams() const;
  // Of these, requests that are coming in.
  std::size_t asking() const;
  // Whether answers wait for their readers to make room. After TakeOutput, nothing else can hold them up.
  bool has_queued() const;
  // Whether nothing more will be said.
  bool is_over() const;

  // Frames that make work and lead to nothing (resets, pings, settings, refused streams) draw on a budget,
  // and a client that has used it up is sent away. It has room for a burst; time fills it up again.
  void AddPatience(std::int64_t frames);
  // Resets streams whose requests are coming in, and of which nothing came since the last call.
  void ResetStalledRequests();
  // Resets streams that wait for their readers and have sent nothing since the last call.
  void ResetStalledAnswers();
  // Takes no more requests; what is in hand is answered.
  void GoAway();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
