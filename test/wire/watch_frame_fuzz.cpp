// A byte for framing and size of chunks, then a stream. However it is cut into chunks, the frames are the
// same, and an event that can be read can be written and read again.

#include <algorithm>
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "wire/json_document.h"
#include "wire/watch_frame.h"

namespace {

using berth::wire::FrameSplitter;

std::vector<std::string> Split(FrameSplitter::Framing framing, std::string_view stream,
                               std::size_t chunk_size) {
  FrameSplitter splitter(framing, 4096);
  std::vector<std::string> frames;
  while (!stream.empty()) {
    const std::size_t size = std::min(chunk_size, stream.size());
    splitter.Feed(stream.substr(0, size));
    stream.remove_prefix(size);
    while (true) {
      const auto frame = splitter.Next();
      if (!frame) {
        frames.push_back(frame.error().message);
        return frames;
      }
      if (!*frame) break;
      frames.emplace_back(**frame);
    }
  }
  if (!splitter.Finish()) frames.emplace_back("unexpected EOF");
  return frames;
}

void ReadEvent(FrameSplitter::Framing framing, std::string_view frame) {
  using namespace berth::wire;
  if (framing == FrameSplitter::Framing::kLine) {
    const auto event = ParseWatchLine(frame);
    if (!event || !ParseJson(event->object)) return;
    const std::string again = WriteWatchLine(event->type, event->object);
    const auto event_again = ParseWatchLine(again);
    BERTH_CHECK(event_again && event_again->type == event->type && event_again->object == event->object);
    return;
  }
  const auto event = ParseWatchFrame(frame);
  if (!event) return;
  const std::string again = WriteWatchFrame(event->type, WriteEnvelope(event->object));
  const auto event_again = ParseWatchFrame(std::string_view(again).substr(4));
  BERTH_CHECK(event_again && event_again->type == event->type &&
              event_again->object.raw == event->object.raw);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto framing = data[0] % 2 == 0 ? FrameSplitter::Framing::kLength : FrameSplitter::Framing::kLine;
  const std::size_t chunk_size = static_cast<std::size_t>(data[0]) / 2 + 1;
  const std::string_view stream(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::vector<std::string> frames = Split(framing, stream, chunk_size);
  BERTH_CHECK(frames == Split(framing, stream, std::max<std::size_t>(stream.size(), 1)));
  for (const std::string& frame : frames) ReadEvent(framing, frame);
  return 0;
}
