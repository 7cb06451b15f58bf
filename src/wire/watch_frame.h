#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "wire/envelope.h"
#include "wire/limits.h"

namespace berth::wire {

enum class WatchType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

std::string_view ToString(WatchType type);  // "ADDED"

// Cuts a stream that arrives in chunks of any size into frames. One loop serves both encodings:
//
//   splitter.Feed(chunk);
//   while (true) {
//     auto frame = splitter.Next();
//     if (!frame) ...   // the stream is broken: it cannot be cut any further
//     if (!*frame) break;  // more bytes are needed
//     ...
//   }
//
// A frame that lies within one chunk is a view into it and costs nothing; only a frame that spans chunks is
// copied. So a chunk must stay alive until Next() asks for more, and a frame is good until the next call of
// Next() or Feed().
class FrameSplitter {
 public:
  enum class Framing : std::uint8_t {
    kLength,  // protobuf: four bytes of length, most significant first
    kLine,    // JSON: one object a line; blank lines are skipped
  };

  explicit FrameSplitter(Framing framing, std::size_t frame_bytes_max = kWatchFrameBytesMax)
      : framing_(framing), frame_bytes_max_(frame_bytes_max) {}

  void Feed(std::string_view chunk);
  base::Result<std::optional<std::string_view>> Next();

  // The stream ended. Between frames that is a clean end, inside one an error: unexpected EOF.
  base::Result<void> Finish() const;

 private:
  base::Result<std::optional<std::string_view>> NextByLength();
  base::Result<std::optional<std::string_view>> NextLine();
  base::Result<std::size_t> BodyLength(std::string_view header) const;

  Framing framing_;
  std::size_t frame_bytes_max_;
  std::string_view chunk_;     // what Next() has not looked at yet
  std::string partial_;        // the beginning of a frame whose end has not arrived
  bool partial_done_ = false;  // partial_ was handed out whole and is dropped by the next call
};

// One event of a watch. Views point into the frame or line.
struct WatchFrame {
  WatchType type = WatchType::kAdded;
  Envelope object;
};
struct WatchLine {
  WatchType type = WatchType::kAdded;
  std::string_view object;  // JSON text, not checked beyond its end: whoever decodes it does that
};

base::Result<WatchFrame> ParseWatchFrame(std::string_view frame);
base::Result<WatchLine> ParseWatchLine(std::string_view line);

// Whole frames, length prefix or line end included. `body` is an enveloped object (WriteEnvelope).
std::string WriteWatchFrame(WatchType type, std::string_view body);
std::string WriteWatchLine(WatchType type, std::string_view object_json);

}  // namespace berth::wire
