#include "net/http2_engine.h"

#include "fmt/format.h"

#include "base/check.h"

namespace berth::net {
namespace {

std::unexpected<NetError> EngineError(ssize_t code) {
  return std::unexpected(
      NetError{ErrorKind::kProtocol, fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(code)))});
}

}  // namespace

Http2Setup::Http2Setup() {
  BERTH_CHECK(nghttp2_session_callbacks_new(&callbacks_) == 0 && nghttp2_option_new(&options_) == 0);
}

Http2Setup::~Http2Setup() {
  nghttp2_option_del(options_);
  nghttp2_session_callbacks_del(callbacks_);
}

void Http2Engine::Greet(std::span<const nghttp2_settings_entry> settings, std::int32_t window) {
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, window);
}

NetResult<void> Http2Engine::Receive(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(session, data, bytes.size());
  if (taken < 0) return EngineError(taken);
  return {};
}

NetResult<void> Http2Engine::TakeOutput(std::string& out, std::size_t bytes) {
  while (out.size() < bytes) {
    const std::size_t before = out.size();
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session, &data);
    if (size < 0) return EngineError(size);
    out.append(Http2Text(data, static_cast<std::size_t>(size)));
    if (out.size() == before) break;  // a callback may have appended to it, too
  }
  return {};
}

bool Http2Engine::is_over() const {
  return nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0;
}

}  // namespace berth::net
