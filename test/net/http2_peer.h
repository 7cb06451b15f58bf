#pragma once

#include <cstdint>
#include <map>
#include <nghttp2/nghttp2.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace berth::net {

// The server's end of an HTTP/2 connection, in memory: it collects requests and answers as a test tells it
// to.
class Http2Peer {
 public:
  struct Request {
    std::int32_t stream = 0;
    std::map<std::string, std::string> headers;
    std::string body;
    bool whole = false;
    std::optional<std::uint32_t> reset;  // the client's reason
  };

  explicit Http2Peer(std::uint32_t streams_max = 100) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks,
        [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
           const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
          static_cast<Http2Peer*>(self)->Of(frame->hd.stream_id).headers[Text(name, name_size)] =
              Text(value, value_size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                      std::size_t size, void* self) {
          static_cast<Http2Peer*>(self)->Of(stream).body += Text(data, size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
          Http2Peer& peer = *static_cast<Http2Peer*>(self);
          if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) ++peer.pings;
          if (frame->hd.type == NGHTTP2_RST_STREAM)
            peer.Of(frame->hd.stream_id).reset = frame->rst_stream.error_code;
          if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
              (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
            peer.Of(frame->hd.stream_id).whole = true;
          }
          return 0;
        });
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
  }
  ~Http2Peer() { nghttp2_session_del(session_); }
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;

  void Receive(std::string_view bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    EXPECT_EQ(nghttp2_session_mem_recv(session_, data, bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string TakeOutput() {
    std::string out = std::exchange(raw_, "");
    const std::uint8_t* data = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) {
      out += Text(data, static_cast<std::size_t>(size));
    }
    return out;
  }

  using Fields = std::vector<std::pair<std::string, std::string>>;
  void Answer(std::int32_t stream, int status, std::string body, Fields fields = {}) {
    Begin(stream, status, std::move(fields), body.empty());
    if (!body.empty()) Send(stream, std::move(body), true);
  }
  void Begin(std::int32_t stream, int status, Fields fields = {}, bool last = false) {
    fields.insert(fields.begin(), {":status", std::to_string(status)});
    std::vector<nghttp2_nv> list;
    for (auto& [name, value] : fields)
      list.push_back({Bytes(name), Bytes(value), name.size(), value.size(), 0});
    nghttp2_submit_headers(session_, last ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE, stream, nullptr,
                           list.data(), list.size(), nullptr);
  }
  // One piece of a body at a time: take the output before the next.
  void Send(std::int32_t stream, std::string data, bool last) {
    Piece& piece = pieces_[stream];
    piece = {std::move(data), 0, last};
    nghttp2_data_provider provider{};
    provider.source.ptr = &piece;
    provider.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t room,
                                std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      Piece& from = *static_cast<Piece*>(source->ptr);
      const std::size_t taken = from.data.copy(reinterpret_cast<char*>(into), room, from.sent);
      from.sent += taken;
      if (from.sent == from.data.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(taken);
    };
    nghttp2_submit_data(session_, last ? NGHTTP2_FLAG_END_STREAM : NGHTTP2_FLAG_NONE, stream, &provider);
  }
  void Reset(std::int32_t stream, std::uint32_t code) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
  }
  void GoAway(std::int32_t last_stream) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_stream, NGHTTP2_NO_ERROR, nullptr, 0);
  }
  void SendRaw(std::string bytes) { raw_ += bytes; }

  // The request of that path, or null.
  const Request* Find(std::string_view path) const {
    for (const auto& [stream, request] : requests) {
      const auto found = request.headers.find(":path");
      if (found != request.headers.end() && found->second == path) return &request;
    }
    return nullptr;
  }

  std::map<std::int32_t, Request> requests;
  int pings = 0;

 private:
  struct Piece {
    std::string data;
    std::size_t sent = 0;
    bool last = false;
  };

  static std::string Text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
  }
  static std::uint8_t* Bytes(std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); }
  Request& Of(std::int32_t stream) {
    Request& request = requests[stream];
    request.stream = stream;
    return request;
  }

  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Piece> pieces_;
  std::string raw_;
};

}  // namespace berth::net
