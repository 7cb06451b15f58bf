#pragma once

#include <cstddef>
#include <cstdint>
#include <nghttp2/nghttp2.h>
#include <span>
#include <string>
#include <string_view>

#include "net/net_error.h"

// The way from both ends of HTTP/2 to nghttp2 and back. For sources of this room alone.
namespace berth::net {

inline std::string_view Http2Text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// What a session is made with, as long as it is being made.
class Http2Setup {
 public:
  Http2Setup();
  ~Http2Setup();
  Http2Setup(const Http2Setup&) = delete;
  Http2Setup& operator=(const Http2Setup&) = delete;

  // The owner hears of OnHeader, OnFrame, OnData and OnClose.
  template <class Owner>
  void Tell();

  nghttp2_session_callbacks* callbacks() { return callbacks_; }
  nghttp2_option* options() { return options_; }

 private:
  nghttp2_session_callbacks* callbacks_ = nullptr;
  nghttp2_option* options_ = nullptr;
};

// One end of a connection. Whoever derives from it makes the session.
struct Http2Engine {
  Http2Engine() = default;
  ~Http2Engine() { nghttp2_session_del(session); }
  Http2Engine(const Http2Engine&) = delete;
  Http2Engine& operator=(const Http2Engine&) = delete;

  // The first words: `window` is what the peer may send on all streams together.
  void Greet(std::span<const nghttp2_settings_entry> settings, std::int32_t window);
  NetResult<void> Receive(std::string_view bytes);
  // Appends what is to be sent, at least up to a size of `bytes` if there is as much.
  NetResult<void> TakeOutput(std::string& out, std::size_t bytes);
  // Whether nothing more will be said.
  bool is_over() const;

  nghttp2_session* session = nullptr;
};

template <class Owner>
void Http2Setup::Tell() {
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks_,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* owner) {
        static_cast<Owner*>(owner)->OnHeader(frame->hd.stream_id, Http2Text(name, name_size),
                                             Http2Text(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks_, [](nghttp2_session*, const nghttp2_frame* frame, void* owner) {
        static_cast<Owner*>(owner)->OnFrame(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks_, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                     std::size_t size, void* owner) {
        static_cast<Owner*>(owner)->OnData(stream, Http2Text(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks_, [](nghttp2_session*, std::int32_t stream, std::uint32_t code, void* owner) {
        static_cast<Owner*>(owner)->OnClose(stream, code);
        return 0;
      });
}

}  // namespace berth::net
