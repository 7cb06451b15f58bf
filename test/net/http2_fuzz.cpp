#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http2_session.h"

// What a server sends, over a connection with three requests on it. Nothing may crash, and every request may
// end only once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using berth::net::Headers;
  using berth::net::Http2Session;
  using berth::net::NetError;
  int ends = 0;
  Http2Session session(
      {.on_headers = [](Http2Session::StreamId, int, const Headers&) {},
       .on_data = [](Http2Session::StreamId, std::string_view) {},
       .on_end = [&ends](Http2Session::StreamId, std::optional<NetError>, bool) { ++ends; }});
  const berth::net::Url base{.scheme = "https", .host = "server", .port = 443, .path = "", .query = ""};
  int begun = 0;
  for (const char* method : {"GET", "POST", "DELETE"}) {
    berth::net::ClientRequest request{.method = method, .target = "/x"};
    if (request.method == "POST") request.body = berth::net::MakeBody("body");
    begun += session.Submit(request, base) != 0 ? 1 : 0;
  }
  std::string out;
  (void)session.TakeOutput(out, std::size_t{1} << 20);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t half = bytes.size() / 2;
  if (session.Receive(bytes.substr(0, half)) && session.Receive(bytes.substr(half))) {
    out.clear();
    (void)session.TakeOutput(out, std::size_t{1} << 20);
  }
  if (ends + static_cast<int>(session.streams()) != begun) __builtin_trap();
  return 0;
}
