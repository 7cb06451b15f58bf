#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "net/http2_server_session.h"

// The first byte says how the server answers, the second in what parts the rest arrives. Whatever the client
// says, requests come from streams that are open, there are never more than allowed, and what is counted adds
// up.
namespace berth::net {
namespace {

void AnswerAs(Http2ServerSession& session, Http2ServerSession::StreamId stream, int how) {
  switch (how % 4) {
    case 0:
      session.Answer(stream, 200, {{"X-A", "b"}}, MakeBody(std::string(100, 'x')));
      return;
    case 1:
      session.Begin(stream, 200, {});
      session.Write(stream, MakeBuffer(std::string(40'000, 'x')));
      return;
    case 2:
      session.Begin(stream, 200, {});
      session.Write(stream, MakeBuffer("x"));
      session.Finish(stream);
      return;
    default:
      session.Abort(stream);
  }
}

void Converse(int how, std::size_t part, std::string_view bytes) {
  constexpr std::uint32_t kStreamsMax = 5;
  Http2ServerSession session(
      {.limits = {.header_bytes_max = 500, .body_bytes_max = 500}, .streams_max = kStreamsMax});
  BERTH_CHECK(session.Receive(kHttp2Preface).has_value());
  while (!bytes.empty()) {
    const std::string_view some = bytes.substr(0, part);
    bytes.remove_prefix(some.size());
    if (!session.Receive(some)) return;
    for (const auto& request : session.TakeRequests()) {
      BERTH_CHECK(session.IsOpen(request.stream));
      BERTH_CHECK(request.body.size() <= 500);
      AnswerAs(session, request.stream, how++);
    }
    for (const auto stream : session.TakeGone()) BERTH_CHECK(!session.IsOpen(stream));
    BERTH_CHECK(session.asking() <= session.streams());
    BERTH_CHECK(session.streams() <= kStreamsMax);
    std::string out;
    if (!session.TakeOutput(out, 1000)) return;
    if (how % 7 == 0) session.ResetStalledAnswers();
  }
  session.ResetStalledRequests();
  session.ResetStalledRequests();
  BERTH_CHECK(session.asking() == 0);
  session.ResetStalledAnswers();
  session.ResetStalledAnswers();
  BERTH_CHECK(!session.has_queued());
}

}  // namespace
}  // namespace berth::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  berth::net::Converse(data[0], data[1] + std::size_t{1},
                       {reinterpret_cast<const char*>(data) + 2, size - 2});
  return 0;
}
