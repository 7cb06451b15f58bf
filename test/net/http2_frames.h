#pragma once

#include <cstddef>
#include <cstdint>
#include <nghttp2/nghttp2.h>
#include <string>
#include <string_view>
#include <vector>

// Frames of HTTP/2 as bytes, for peers that say what no library would.
namespace berth::net {

struct RawFrame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload = {};

  // Of a reset or of the last part of a GOAWAY.
  std::uint32_t code() const {
    std::uint32_t code = 0;
    for (const char c : payload.substr(type == NGHTTP2_GOAWAY ? 4 : 0, 4)) {
      code = code << 8 | static_cast<std::uint8_t>(c);
    }
    return code;
  }
};

inline std::string BigEndian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  return text;
}

inline std::string Bytes(const RawFrame& frame) {
  return BigEndian(static_cast<std::uint32_t>(frame.payload.size()), 3) + static_cast<char>(frame.type) +
         static_cast<char>(frame.flags) + BigEndian(frame.stream, 4) + frame.payload;
}

inline std::string SettingsFrame(std::uint32_t id = 0, std::uint32_t value = 0) {
  return Bytes({.type = NGHTTP2_SETTINGS,
                .payload = id == 0 ? std::string() : BigEndian(id, 2) + BigEndian(value, 4)});
}

// A whole GET of "/", or the beginning of a POST.
inline std::string GetFrame(std::uint32_t stream) {
  return Bytes({.type = NGHTTP2_HEADERS,
                .flags = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
                .stream = stream,
                .payload = "\x82\x86\x84\x01\x01h"});
}
inline std::string PostFrame(std::uint32_t stream, std::string_view more_fields = {}) {
  return Bytes({.type = NGHTTP2_HEADERS,
                .flags = NGHTTP2_FLAG_END_HEADERS,
                .stream = stream,
                .payload = std::string("\x83\x86\x84\x01\x01h").append(more_fields)});
}
// A field that is not compressed; both texts are shorter than 127 bytes.
inline std::string RawField(std::string_view name, std::string_view value) {
  std::string text(1, '\0');
  text += static_cast<char>(name.size());
  text.append(name) += static_cast<char>(value.size());
  return text.append(value);
}
inline std::string ResetFrame(std::uint32_t stream) {
  return Bytes({.type = NGHTTP2_RST_STREAM, .stream = stream, .payload = BigEndian(NGHTTP2_CANCEL, 4)});
}
inline std::string PingFrame() { return Bytes({.type = NGHTTP2_PING, .payload = "12345678"}); }
inline std::string WindowFrame(std::uint32_t stream, std::uint32_t bytes) {
  return Bytes({.type = NGHTTP2_WINDOW_UPDATE, .stream = stream, .payload = BigEndian(bytes, 4)});
}

// Whole ones; a part of a frame at the end is left out, and `rest` says how long it is.
inline std::vector<RawFrame> ParseFrames(std::string_view bytes, std::size_t* rest = nullptr) {
  constexpr std::size_t kHeader = 9;
  const auto number = [](std::string_view text) {
    std::uint32_t value = 0;
    for (const char c : text) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
  };
  std::vector<RawFrame> frames;
  while (bytes.size() >= kHeader) {
    const std::size_t size = number(bytes.substr(0, 3));
    if (bytes.size() < kHeader + size) break;
    frames.push_back({.type = static_cast<std::uint8_t>(bytes[3]),
                      .flags = static_cast<std::uint8_t>(bytes[4]),
                      .stream = number(bytes.substr(5, 4)),
                      .payload = std::string(bytes.substr(kHeader, size))});
    bytes.remove_prefix(kHeader + size);
  }
  if (rest != nullptr) *rest = bytes.size();
  return frames;
}

// Of one type, and of one stream if that is given.
inline std::vector<RawFrame> FramesOf(std::string_view bytes, std::uint8_t type, std::uint32_t stream = 0) {
  std::vector<RawFrame> frames = ParseFrames(bytes);
  std::erase_if(frames, [&](const RawFrame& frame) {
    return frame.type != type || (stream != 0 && frame.stream != stream);
  });
  return frames;
}

}  // namespace berth::net
