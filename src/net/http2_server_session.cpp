#include "net/http2_server_session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nghttp2/nghttp2.h>
#include <utility>

#include "fmt/format.h"

#include "base/check.h"
#include "net/body_queue.h"
#include "net/http2_engine.h"
#include "net/http2_fields.h"

namespace berth::net {
namespace {

// What a client may send of a body before it waits for us, and on all streams together.
constexpr std::uint32_t kBodyWindow = 256U << 10;
constexpr std::int32_t kBodiesWindow = 64 << 20;
// A client that opens connections, cancels what it asked for and pings needs a small part of this. Below the
// thousand at which nghttp2 itself ends a connection, with less to say about why.
constexpr std::int64_t kPatienceMax = 500;
// Input is looked at in slices of so many bytes, so that the budget cannot be overdrawn by much.
constexpr std::size_t kSliceBytes = 4096;
// Frames that wait for a client which sends and does not read.
constexpr std::size_t kFramesWaitingMax = 10'000;

enum class StreamPhase : std::uint8_t {
  kHeader,     // of the request
  kBody,       // of the request
  kWhole,      // the request, which nobody has taken yet
  kTaken,      // the answer has not begun
  kAnswering,  // more may be written
  kFinished,   // what is queued goes out
};

struct ServedStream {
  std::unique_ptr<Http2ServerSession::Request> request;  // until it is taken
  std::size_t header_bytes = 0;
  std::size_t held_bytes = 0;      // of the request, by it or by whoever took it
  std::size_t unwanted_bytes = 0;  // of a body that came after it was refused
  BodyQueue output;
  StreamPhase phase = StreamPhase::kHeader;
  bool header_too_long = false;
  bool is_head = false;
  bool request_ended = false;
  bool moved = true;  // since the last look for stalled ones

  bool is_open() const { return phase == StreamPhase::kTaken || phase == StreamPhase::kAnswering; }
};

}  // namespace

struct Http2ServerSession::Impl : Http2Engine {
  explicit Impl(const Options& wanted) : options(wanted) {}

  void Start();
  void SetCallbacks(nghttp2_session_callbacks* callbacks);
  ServedStream* Find(StreamId id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }
  ServedStream& Open(StreamId id) {
    ServedStream* const stream = Find(id);
    BERTH_CHECK(stream != nullptr && stream->is_open());
    return *stream;
  }

  void OnHeader(StreamId id, std::string_view name, std::string_view value);
  void OnFrame(const nghttp2_frame& frame);
  void OnHeaderEnd(StreamId id, ServedStream& stream, bool is_last);
  void OnData(StreamId id, std::string_view data);
  void OnRequestEnd(StreamId id, ServedStream& stream);
  void OnClose(StreamId id, std::uint32_t code);
  void Refuse(StreamId id, ServedStream& stream, int status, std::string_view why);
  void Respond(StreamId id, ServedStream& stream, int status, const Headers& headers, const Body* body);
  void Push(ServedStream& stream, Buffer data);
  void Reset(StreamId id, std::uint32_t code);
  // False: that is more than the connection may hold.
  bool Hold(ServedStream& stream, std::size_t bytes);
  void Release(ServedStream& stream) { held -= std::exchange(stream.held_bytes, 0); }

  ssize_t OfferBody(StreamId id, std::size_t room, std::uint32_t& flags);
  int SendBody(StreamId id, std::string_view frame_header, std::size_t size);

  const Options options;
  std::map<StreamId, ServedStream> streams;
  std::vector<StreamId> ready;
  std::vector<StreamId> gone;
  std::string* out = nullptr;  // while output is taken, and how much of it is
  std::size_t out_wanted = 0;
  std::size_t asking = 0;
  std::size_t queued = 0;
  std::size_t held = 0;  // of all streams
  std::int64_t patience = kPatienceMax;
  bool is_greeted = false;
};

void Http2ServerSession::Impl::OnHeader(StreamId id, std::string_view name, std::string_view value) {
  ServedStream* const stream = Find(id);
  if (stream == nullptr || stream->phase != StreamPhase::kHeader || stream->header_too_long) return;
  stream->moved = true;
  const std::size_t bytes = name.size() + value.size() + std::string_view(": \r\n").size();
  stream->header_bytes += bytes;
  if (stream->header_bytes > options.limits.header_bytes_max || !Hold(*stream, bytes)) {
    stream->header_too_long = true;
    Release(*stream);
    *stream->request = {.stream = id, .method = {}, .target = {}, .headers = {}, .body = {}};
    return;
  }
  if (name == ":method") {
    stream->request->method = value;
    stream->is_head = value == "HEAD";
  } else if (name == ":path") {
    stream->request->target = value;
  } else if (name == ":authority") {
    stream->request->headers.Add("host", std::string(value));
  } else if (!name.starts_with(':')) {
    stream->request->headers.Add(std::string(name), std::string(value));
  }
}

void Http2ServerSession::Impl::OnFrame(const nghttp2_frame& frame) {
  const bool is_ack = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
  const bool is_last = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  ServedStream* const stream = Find(frame.hd.stream_id);
  switch (frame.hd.type) {
    case NGHTTP2_SETTINGS:
      is_greeted = true;
      if (!is_ack) --patience;
      return;
    case NGHTTP2_PING:
      if (!is_ack) --patience;
      return;
    case NGHTTP2_PRIORITY:
      --patience;
      return;
    case NGHTTP2_DATA:
      if (frame.hd.length == 0 && !is_last) --patience;
      break;
    case NGHTTP2_HEADERS:
      if (stream != nullptr && stream->phase == StreamPhase::kHeader) {
        OnHeaderEnd(frame.hd.stream_id, *stream, is_last);
        return;
      }
      break;
    default:
      return;
  }
  if (!is_last || stream == nullptr || std::exchange(stream->request_ended, true)) return;
  --asking;
  if (stream->phase == StreamPhase::kBody) OnRequestEnd(frame.hd.stream_id, *stream);
}

void Http2ServerSession::Impl::OnHeaderEnd(StreamId id, ServedStream& stream, bool is_last) {
  stream.phase = StreamPhase::kBody;
  stream.request_ended = is_last;
  if (is_last) --asking;
  if (stream.header_too_long) {
    Refuse(id, stream, 431, "header limit exceeded");
    return;
  }
  if (is_last) {
    OnRequestEnd(id, stream);
    return;
  }
  const std::string* const announced = stream.request->headers.Find("content-length");
  std::uint64_t length = 0;
  if (announced != nullptr) {
    std::from_chars(announced->data(), announced->data() + announced->size(), length);
  }
  if (length > options.limits.body_bytes_max) {
    Refuse(id, stream, 413, "body limit exceeded");
  } else if (stream.request->headers.HasToken("Expect", "100-continue")) {
    Http2Fields fields;
    fields.Add(":status", "100");
    const auto list = fields.Finish();
    nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, id, nullptr, list.data(), list.size(), nullptr);
  }
}

void Http2ServerSession::Impl::OnData(StreamId id, std::string_view data) {
  ServedStream* const stream = Find(id);
  if (stream == nullptr) return;
  if (stream->phase != StreamPhase::kBody) {
    stream->unwanted_bytes += data.size();
    if (stream->unwanted_bytes > options.limits.body_bytes_max) Reset(id, NGHTTP2_NO_ERROR);
    return;
  }
  if (stream->request->body.size() + data.size() > options.limits.body_bytes_max ||
      !Hold(*stream, data.size())) {
    Refuse(id, *stream, 413, "body limit exceeded");
    return;
  }
  stream->request->body.append(data);
  stream->moved = true;
}

void Http2ServerSession::Impl::OnRequestEnd(StreamId id, ServedStream& stream) {
  stream.phase = StreamPhase::kWhole;
  ready.push_back(id);
}

// As HTTP/1.1 answers it. What still comes of the request is dropped for a while: clients exist that take no
// answer from a stream which is reset behind it.
void Http2ServerSession::Impl::Refuse(StreamId id, ServedStream& stream, int status, std::string_view why) {
  stream.phase = StreamPhase::kTaken;
  stream.request.reset();
  stream.is_head = false;
  const Body body = MakeBody(fmt::format("{}: {}\n", ReasonPhrase(status), why));
  Respond(id, stream, status, {{"Content-Type", "text/plain; charset=utf-8"}}, &body);
}

void Http2ServerSession::Impl::OnClose(StreamId id, std::uint32_t) {
  const auto found = streams.find(id);
  if (found == streams.end()) return;  // aborted
  ServedStream& stream = found->second;
  const bool was_answered = stream.phase == StreamPhase::kFinished && stream.output.bytes() == 0;
  patience = was_answered ? std::min(patience + 1, kPatienceMax) : patience - 1;
  if (!stream.request_ended) --asking;
  if (stream.is_open()) gone.push_back(id);
  queued -= stream.output.bytes();
  Release(stream);
  streams.erase(found);
}

bool Http2ServerSession::Impl::Hold(ServedStream& stream, std::size_t bytes) {
  if (options.requests_bytes_max != 0 && held + bytes > options.requests_bytes_max) return false;
  held += bytes;
  stream.held_bytes += bytes;
  return true;
}

void Http2ServerSession::Impl::Respond(StreamId id, ServedStream& stream, int status, const Headers& headers,
                                       const Body* body) {
  Release(stream);
  Http2Fields list;
  list.Add(":status", fmt::format_int(status).str());
  list.AddAll(headers);
  bool has_body = true;
  if (body != nullptr) {
    has_body = !stream.is_head && !HasNoBody(status) && SizeOf(*body) > 0;
    if (!HasNoBody(status)) list.Add("content-length", fmt::format_int(SizeOf(*body)).str());
  }
  const std::span<const nghttp2_nv> fields = list.Finish();
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, StreamId of, std::uint8_t*, std::size_t room,
                              std::uint32_t* flags, nghttp2_data_source*,
                              void* self) { return static_cast<Impl*>(self)->OfferBody(of, room, *flags); };
  nghttp2_submit_response(session, id, fields.data(), fields.size(), has_body ? &provider : nullptr);
  stream.phase = body != nullptr ? StreamPhase::kFinished : StreamPhase::kAnswering;
  if (body == nullptr || !has_body) return;
  for (const Buffer& piece : *body) Push(stream, piece);
}

void Http2ServerSession::Impl::Push(ServedStream& stream, Buffer data) {
  if (data->empty()) return;
  if (stream.output.bytes() == 0) stream.moved = true;
  queued += data->size();
  stream.output.Push(std::move(data));
}

ssize_t Http2ServerSession::Impl::OfferBody(StreamId id, std::size_t room, std::uint32_t& flags) {
  const ServedStream* const stream = Find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // aborted
  const std::size_t size = std::min(room, stream->output.bytes());
  const bool is_last = stream->phase == StreamPhase::kFinished && size == stream->output.bytes();
  if (size == 0 && !is_last) return NGHTTP2_ERR_DEFERRED;
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (is_last) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

int Http2ServerSession::Impl::SendBody(StreamId id, std::string_view frame_header, std::size_t size) {
  if (out->size() >= out_wanted) return NGHTTP2_ERR_WOULDBLOCK;
  ServedStream* const stream = Find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // aborted since the body was offered
  out->append(frame_header);
  stream->output.Take(size, *out);
  stream->moved = true;
  queued -= size;
  return 0;
}

void Http2ServerSession::Impl::SetCallbacks(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
        Impl& impl = *static_cast<Impl*>(self);
        ServedStream& stream = impl.streams[frame->hd.stream_id];
        stream.request = std::make_unique<Request>();
        stream.request->stream = frame->hd.stream_id;
        ++impl.asking;
        return 0;
      });
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame*, int, void* self) {
        --static_cast<Impl*>(self)->patience;
        return 0;
      });
  nghttp2_session_callbacks_set_send_data_callback(
      callbacks, [](nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* frame_header,
                    std::size_t size, nghttp2_data_source*, void* self) {
        constexpr std::size_t kFrameHeaderBytes = 9;
        return static_cast<Impl*>(self)->SendBody(frame->hd.stream_id,
                                                  Http2Text(frame_header, kFrameHeaderBytes), size);
      });
}

void Http2ServerSession::Impl::Start() {
  Http2Setup setup;
  setup.Tell<Impl>();
  SetCallbacks(setup.callbacks());
  nghttp2_option_set_no_closed_streams(setup.options(), 1);
  BERTH_CHECK(nghttp2_session_server_new2(&session, setup.callbacks(), this, setup.options()) == 0);
  const auto header_max = static_cast<std::uint32_t>(options.limits.header_bytes_max);
  const std::array<nghttp2_settings_entry, 3> settings{
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.streams_max},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kBodyWindow},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, header_max}}};
  Greet(settings, kBodiesWindow);
}

void Http2ServerSession::Impl::Reset(StreamId id, std::uint32_t code) {
  const auto found = streams.find(id);
  if (!found->second.request_ended) --asking;
  queued -= found->second.output.bytes();
  Release(found->second);
  streams.erase(found);
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, code);
}

Http2ServerSession::Http2ServerSession(const Options& options) : impl_(std::make_unique<Impl>(options)) {
  impl_->Start();
}

Http2ServerSession::~Http2ServerSession() = default;

NetResult<void> Http2ServerSession::Receive(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view slice = bytes.substr(0, kSliceBytes);
    bytes.remove_prefix(slice.size());
    if (auto received = impl_->Receive(slice); !received) return received;
    if (impl_->patience < 0) {
      nghttp2_session_terminate_session(impl_->session, NGHTTP2_ENHANCE_YOUR_CALM);
      impl_->ready.clear();
      return {};
    }
    if (nghttp2_session_get_outbound_queue_size(impl_->session) > kFramesWaitingMax) {
      return std::unexpected(NetError{ErrorKind::kProtocol, "HTTP/2: the client does not read"});
    }
  }
  return {};
}

std::vector<Http2ServerSession::Request> Http2ServerSession::TakeRequests() {
  std::vector<Request> requests;
  for (const StreamId id : std::exchange(impl_->ready, {})) {
    ServedStream* const stream = impl_->Find(id);
    if (stream == nullptr) continue;  // reset meanwhile
    stream->phase = StreamPhase::kTaken;
    requests.push_back(std::move(*stream->request));
    stream->request.reset();
  }
  return requests;
}

std::vector<Http2ServerSession::StreamId> Http2ServerSession::TakeGone() {
  return std::exchange(impl_->gone, {});
}

NetResult<void> Http2ServerSession::TakeOutput(std::string& out, std::size_t bytes) {
  impl_->out = &out;
  impl_->out_wanted = bytes;
  return impl_->TakeOutput(out, bytes);
}

bool Http2ServerSession::IsOpen(StreamId stream) const {
  const ServedStream* const found = impl_->Find(stream);
  return found != nullptr && found->is_open();
}

void Http2ServerSession::Answer(StreamId stream, int status, const Headers& headers, const Body& body) {
  impl_->Respond(stream, impl_->Open(stream), status, headers, &body);
}

void Http2ServerSession::Begin(StreamId stream, int status, const Headers& headers) {
  impl_->Respond(stream, impl_->Open(stream), status, headers, nullptr);
}

void Http2ServerSession::Write(StreamId stream, Buffer data) {
  ServedStream& open = impl_->Open(stream);
  if (open.is_head) return;
  impl_->Push(open, std::move(data));
  nghttp2_session_resume_data(impl_->session, stream);
}

void Http2ServerSession::Finish(StreamId stream) {
  impl_->Open(stream).phase = StreamPhase::kFinished;
  nghttp2_session_resume_data(impl_->session, stream);
}

void Http2ServerSession::Abort(StreamId stream) {
  static_cast<void>(impl_->Open(stream));
  impl_->Reset(stream, NGHTTP2_INTERNAL_ERROR);
}

std::size_t Http2ServerSession::queued(StreamId stream) const { return impl_->Open(stream).output.bytes(); }
bool Http2ServerSession::is_greeted() const { return impl_->is_greeted; }
std::size_t Http2ServerSession::streams() const { return impl_->streams.size(); }
std::size_t Http2ServerSession::asking() const { return impl_->asking; }
bool Http2ServerSession::has_queued() const { return impl_->queued > 0; }

bool Http2ServerSession::is_over() const { return impl_->is_over(); }

void Http2ServerSession::AddPatience(std::int64_t frames) {
  impl_->patience = std::min(impl_->patience + frames, kPatienceMax);
}

void Http2ServerSession::ResetStalledRequests() {
  std::vector<StreamId> stalled;
  for (auto& [id, stream] : impl_->streams) {
    if (!stream.request_ended && !std::exchange(stream.moved, false)) stalled.push_back(id);
  }
  for (const StreamId id : stalled) impl_->Reset(id, NGHTTP2_CANCEL);
}

void Http2ServerSession::ResetStalledAnswers() {
  std::vector<StreamId> stalled;
  for (auto& [id, stream] : impl_->streams) {
    if (stream.output.bytes() > 0 && !std::exchange(stream.moved, false)) stalled.push_back(id);
  }
  for (const StreamId id : stalled) {
    if (IsOpen(id)) impl_->gone.push_back(id);
    impl_->Reset(id, NGHTTP2_CANCEL);
  }
}

void Http2ServerSession::GoAway() {
  const StreamId last = nghttp2_session_get_last_proc_stream_id(impl_->session);
  nghttp2_submit_goaway(impl_->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace berth::net
