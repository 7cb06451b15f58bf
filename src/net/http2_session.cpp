#include "net/http2_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <nghttp2/nghttp2.h>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"

#include "base/check.h"
#include "net/client_call.h"
#include "net/http2_engine.h"
#include "net/http2_fields.h"

namespace berth::net {
namespace {

// What a server may send before it waits for us. Lists are long, and whoever reads them keeps up.
constexpr std::uint32_t kStreamWindow = 4U << 20;
constexpr std::int32_t kConnectionWindow = 1 << 30;
// Until the server says how many streams it allows: what kube-apiserver and Go's servers allow.
constexpr std::uint32_t kStreamsAtFirst = 100;

struct Stream {
  int status = 0;
  Headers headers;
  Body body;
  std::size_t body_piece = 0;   // the first that is not wholly sent
  std::size_t body_offset = 0;  // of that piece
  bool final_headers = false;   // those of the answer, not of an interim one
  bool whole = false;           // the server has ended its side in order
};

}  // namespace

struct Http2Session::Impl : Http2Engine {
  Impl(Events wanted, std::vector<std::string> headers)
      : events(std::move(wanted)), wanted_headers(std::move(headers)) {}

  void Start();
  void End(StreamId id, std::optional<NetError> error, bool untouched);
  void OnClose(StreamId id, std::uint32_t code);
  void OnHeader(StreamId id, std::string_view name, std::string_view value);
  void OnFrame(const nghttp2_frame& frame);
  void OnData(StreamId id, std::string_view data) {
    if (streams.contains(id)) events.on_data(id, data);
  }
  std::size_t ReadBody(Stream& stream, std::span<char> into, bool& whole);

  bool IsWanted(std::string_view name) const {
    return wanted_headers.empty() || std::ranges::find(wanted_headers, name) != wanted_headers.end();
  }

  Events events;
  const std::vector<std::string> wanted_headers;
  absl::flat_hash_map<StreamId, Stream> streams;
  Http2Fields fields;
  bool leaving = false;
  bool has_settings = false;
};

void Http2Session::Impl::End(StreamId id, std::optional<NetError> error, bool untouched) {
  if (streams.erase(id) != 0) events.on_end(id, std::move(error), untouched);
}

void Http2Session::Impl::OnClose(StreamId id, std::uint32_t code) {
  const auto found = streams.find(id);
  if (found == streams.end()) return;  // cancelled
  if (found->second.whole && found->second.final_headers) {
    // What the server thinks of the rest of the request no longer matters.
    End(id, std::nullopt, false);
  } else if (code == NGHTTP2_NO_ERROR) {
    End(id, NetError{ErrorKind::kReset, "unexpected EOF"}, false);
  } else if (code == NGHTTP2_PROTOCOL_ERROR) {
    End(id, NetError{ErrorKind::kProtocol, "malformed response: HTTP/2 stream: PROTOCOL_ERROR"}, false);
  } else {
    End(id, NetError{ErrorKind::kReset, fmt::format("HTTP/2 stream: {}", nghttp2_http2_strerror(code))},
        code == NGHTTP2_REFUSED_STREAM);
  }
}

void Http2Session::Impl::OnHeader(StreamId id, std::string_view name, std::string_view value) {
  const auto found = streams.find(id);
  if (found == streams.end() || found->second.final_headers) return;  // trailers are not looked at
  if (name == ":status") {
    std::from_chars(value.data(), value.data() + value.size(), found->second.status);
  } else if (IsWanted(name)) {
    found->second.headers.Add(std::string(name), std::string(value));
  }
}

void Http2Session::Impl::OnFrame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) {
    leaving = true;
    return;
  }
  if (frame.hd.type == NGHTTP2_SETTINGS) has_settings = true;
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  const auto found = streams.find(frame.hd.stream_id);
  if (found == streams.end()) return;
  Stream& stream = found->second;
  stream.whole = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame.hd.type != NGHTTP2_HEADERS || stream.final_headers) return;
  if (stream.status >= 100 && stream.status < 200) {
    stream.headers = {};
    return;
  }
  stream.final_headers = true;
  events.on_headers(frame.hd.stream_id, stream.status, std::exchange(stream.headers, {}));
}

std::size_t Http2Session::Impl::ReadBody(Stream& stream, std::span<char> into, bool& whole) {
  std::size_t used = 0;
  while (stream.body_piece < stream.body.size() && used < into.size()) {
    const std::string& piece = *stream.body[stream.body_piece];
    const std::size_t taken = std::min(piece.size() - stream.body_offset, into.size() - used);
    std::memcpy(into.data() + used, piece.data() + stream.body_offset, taken);
    used += taken;
    stream.body_offset += taken;
    if (stream.body_offset == piece.size()) {
      ++stream.body_piece;
      stream.body_offset = 0;
    }
  }
  whole = stream.body_piece == stream.body.size();
  return used;
}

void Http2Session::Impl::Start() {
  Http2Setup setup;
  setup.Tell<Impl>();
  // A request that was still waiting when the server said that it goes away.
  nghttp2_session_callbacks_set_on_frame_not_send_callback(
      setup.callbacks(), [](nghttp2_session*, const nghttp2_frame* frame, int error, void* self) {
        if (frame->hd.type == NGHTTP2_HEADERS) {
          static_cast<Impl*>(self)->End(
              frame->hd.stream_id,
              NetError{ErrorKind::kReset, fmt::format("HTTP/2: {}", nghttp2_strerror(error))}, true);
        }
        return 0;
      });
  nghttp2_option_set_peer_max_concurrent_streams(setup.options(), kStreamsAtFirst);
  BERTH_CHECK(nghttp2_session_client_new2(&session, setup.callbacks(), this, setup.options()) == 0);
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};
  Greet(settings, kConnectionWindow);
}

Http2Session::Http2Session(Events events, std::vector<std::string> wanted_headers)
    : impl_(std::make_unique<Impl>(std::move(events), std::move(wanted_headers))) {
  impl_->Start();
}

Http2Session::~Http2Session() = default;

bool Http2Session::is_leaving() const {
  return impl_->leaving || nghttp2_session_check_request_allowed(impl_->session) == 0;
}

bool Http2Session::has_room() const {
  const auto allowed =
      nghttp2_session_get_remote_settings(impl_->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return !is_leaving() && impl_->streams.size() < allowed;
}

bool Http2Session::knows_settings() const { return impl_->has_settings; }

bool Http2Session::is_over() const { return impl_->is_over(); }

std::size_t Http2Session::streams() const { return impl_->streams.size(); }

Http2Session::StreamId Http2Session::Submit(const ClientRequest& request, const Url& base) {
  if (!has_room()) return 0;
  const std::size_t size = SizeOf(request.body);
  Http2Fields& list = impl_->fields;
  list.Clear();
  list.Add(":method", request.method);
  list.Add(":scheme", base.scheme);
  list.Add(":authority", base.Authority());
  list.Add(":path", JoinPath(base.path, request.target));
  if (request.common_headers) list.AddAll(*request.common_headers);
  list.AddAll(request.headers);
  if (size != 0 || UsuallyHasBody(request.method)) list.Add("content-length", fmt::format_int(size).str());
  const std::span<const nghttp2_nv> fields = list.Finish();
  nghttp2_data_provider provider{};
  provider.source.ptr = impl_.get();
  provider.read_callback = [](nghttp2_session*, StreamId id, std::uint8_t* into, std::size_t room,
                              std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
    auto& streams = static_cast<Impl*>(source->ptr)->streams;
    const auto found = streams.find(id);
    if (found == streams.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // cancelled
    bool whole = false;
    const std::size_t used = static_cast<Impl*>(source->ptr)
                                 ->ReadBody(found->second, {reinterpret_cast<char*>(into), room}, whole);
    if (whole) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(used);
  };
  const StreamId id = nghttp2_submit_request(impl_->session, nullptr, fields.data(), fields.size(),
                                             size == 0 ? nullptr : &provider, nullptr);
  if (id <= 0) return 0;
  impl_->streams[id].body = request.body;
  return id;
}

void Http2Session::Cancel(StreamId stream) {
  if (impl_->streams.erase(stream) == 0) return;
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

void Http2Session::Ping() { nghttp2_submit_ping(impl_->session, NGHTTP2_FLAG_NONE, nullptr); }

NetResult<void> Http2Session::Receive(std::string_view bytes) { return impl_->Receive(bytes); }

NetResult<void> Http2Session::TakeOutput(std::string& out, std::size_t bytes) {
  return impl_->TakeOutput(out, bytes);
}

}  // namespace berth::net
