#include "wire/watch_frame.h"

#include <algorithm>
#include <array>
#include <simdjson.h>
#include <utility>

#include "base/check.h"
#include "wire/proto_reader.h"
#include "wire/proto_writer.h"

namespace berth::wire {
namespace {

constexpr std::size_t kHeaderBytes = 4;

// Field numbers of meta.v1.WatchEvent and of the runtime.RawExtension in it.
enum WatchEventField : std::uint32_t { kEventType = 1, kEventObject = 2 };
enum RawExtensionField : std::uint32_t { kRawBytes = 1 };

constexpr std::pair<std::string_view, WatchType> kTypes[] = {
    {"ADDED", WatchType::kAdded},       {"MODIFIED", WatchType::kModified}, {"DELETED", WatchType::kDeleted},
    {"BOOKMARK", WatchType::kBookmark}, {"ERROR", WatchType::kError},
};

base::Result<WatchType> ParseType(std::string_view text) {
  for (const auto& [name, type] : kTypes) {
    if (name == text) return type;
  }
  return base::Fail("got invalid watch event type: " + std::string(text));
}

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// The last occurrence of a bytes field; empty if there is none.
base::Result<std::string_view> ReadBytes(std::string_view message, std::uint32_t number) {
  std::string_view found;
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (field.number != number) continue;
    if (field.wire != WireType::kBytes) return base::Fail("malformed protobuf: wrong wire type");
    found = field.bytes;
  }
  if (!reader.ok()) return base::Fail(std::string("malformed protobuf: ") + reader.error());
  return found;
}

}  // namespace

std::string_view ToString(WatchType type) {
  for (const auto& [name, known] : kTypes) {
    if (known == type) return name;
  }
  BERTH_CHECK(false);
  return {};
}

void FrameSplitter::Feed(std::string_view chunk) {
  BERTH_CHECK(chunk_.empty());  // Next() was not called until it asked for more
  chunk_ = chunk;
}

base::Result<std::optional<std::string_view>> FrameSplitter::Next() {
  if (std::exchange(partial_done_, false)) partial_.clear();
  return framing_ == Framing::kLength ? NextByLength() : NextLine();
}

base::Result<std::size_t> FrameSplitter::BodyLength(std::string_view header) const {
  std::size_t length = 0;
  for (const char byte : header) length = length << 8 | static_cast<unsigned char>(byte);
  if (length > frame_bytes_max_) return base::Fail("object to decode was longer than maximum allowed size");
  return length;
}

base::Result<std::optional<std::string_view>> FrameSplitter::NextByLength() {
  const auto take = [this](std::size_t wanted) {
    if (partial_.size() >= wanted) return true;
    const std::size_t count = std::min(wanted - partial_.size(), chunk_.size());
    partial_.append(chunk_.substr(0, count));
    chunk_.remove_prefix(count);
    return partial_.size() == wanted;
  };

  if (partial_.empty() && chunk_.size() >= kHeaderBytes) {
    const base::Result<std::size_t> length = BodyLength(chunk_.substr(0, kHeaderBytes));
    if (!length) return std::unexpected(length.error());
    if (chunk_.size() - kHeaderBytes >= *length) {
      const std::string_view frame = chunk_.substr(kHeaderBytes, *length);
      chunk_.remove_prefix(kHeaderBytes + *length);
      return frame;
    }
  }
  if (!take(kHeaderBytes)) return std::nullopt;
  const base::Result<std::size_t> length = BodyLength(std::string_view(partial_).substr(0, kHeaderBytes));
  if (!length) return std::unexpected(length.error());
  if (!take(kHeaderBytes + *length)) return std::nullopt;
  partial_done_ = true;
  return std::string_view(partial_).substr(kHeaderBytes);
}

base::Result<std::optional<std::string_view>> FrameSplitter::NextLine() {
  while (true) {
    const std::size_t end = chunk_.find('\n');
    const std::string_view piece = chunk_.substr(0, end);
    if (partial_.size() + piece.size() > frame_bytes_max_) {
      return base::Fail("object to decode was longer than maximum allowed size");
    }
    if (end == std::string_view::npos) {
      partial_.append(piece);
      chunk_ = {};
      return std::nullopt;
    }
    chunk_.remove_prefix(end + 1);
    if (partial_.empty()) {
      if (!IsBlank(piece)) return piece;
      continue;
    }
    partial_.append(piece);
    if (!IsBlank(partial_)) {
      partial_done_ = true;
      return std::string_view(partial_);
    }
    partial_.clear();
  }
}

base::Result<void> FrameSplitter::Finish() const {
  BERTH_CHECK(chunk_.empty());
  const bool whole = partial_done_ || (framing_ == Framing::kLength ? partial_.empty() : IsBlank(partial_));
  if (!whole) return base::Fail("unexpected EOF");
  return {};
}

base::Result<WatchFrame> ParseWatchFrame(std::string_view frame) {
  const base::Result<std::string_view> type_text = ReadBytes(frame, kEventType);
  if (!type_text) return std::unexpected(type_text.error());
  const base::Result<WatchType> type = ParseType(*type_text);
  if (!type) return std::unexpected(type.error());
  base::Result<std::string_view> body = ReadBytes(frame, kEventObject);
  if (body) body = ReadBytes(*body, kRawBytes);
  if (!body) return std::unexpected(body.error());
  const base::Result<Envelope> object = ParseEnvelope(*body);
  if (!object) return base::Fail("unable to decode watch event: " + object.error().message);
  return WatchFrame{*type, *object};
}

base::Result<WatchLine> ParseWatchLine(std::string_view line) {
  const simdjson::padded_string padded(line);
  simdjson::ondemand::parser parser;
  std::string type_text;
  std::string_view object;
  const auto read = [&]() -> simdjson::error_code {
    simdjson::ondemand::document document;
    simdjson::ondemand::object event;
    if (const auto error = parser.iterate(padded).get(document)) return error;
    if (const auto error = document.get_object().get(event)) return error;
    for (auto field : event) {
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      if (key == "type") {
        std::string_view text;
        if (const auto error = field.value().get_string().get(text)) return error;
        type_text = text;
      } else if (key == "object") {
        simdjson::ondemand::object value;
        if (const auto error = field.value().get_object().get(value)) return error;
        if (const auto error = value.raw_json().get(object)) return error;
      }
    }
    const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return at_end ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
  };
  if (const auto error = read()) {
    return base::Fail(std::string("unable to decode watch event: ") + simdjson::error_message(error));
  }
  const base::Result<WatchType> type = ParseType(type_text);
  if (!type) return std::unexpected(type.error());
  if (object.empty()) return base::Fail("unable to decode watch event: it has no object");
  // simdjson needs room behind its input, so it worked on a copy: the same place in the line is what lasts.
  const auto offset = static_cast<std::size_t>(object.data() - padded.data());
  std::string_view text = line.substr(offset, object.size());
  text.remove_suffix(text.size() - 1 - text.rfind('}'));
  return WatchLine{*type, text};
}

std::string WriteWatchFrame(WatchType type, std::string_view body) {
  ProtoWriter writer;  // from the last byte to the first
  writer.BytesField(kRawBytes, body);
  writer.Prefix(kEventObject, writer.size());
  writer.BytesField(kEventType, ToString(type));
  const std::size_t length = writer.size();
  std::array<char, kHeaderBytes> header;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    header[i] = static_cast<char>(length >> (8 * (kHeaderBytes - 1 - i)) & 0xff);
  }
  writer.Bytes({header.data(), header.size()});
  return writer.Take();
}

std::string WriteWatchLine(WatchType type, std::string_view object_json) {
  std::string line = R"({"type":")";
  line.append(ToString(type)).append(R"(","object":)").append(object_json).append("}\n");
  return line;
}

}  // namespace berth::wire
