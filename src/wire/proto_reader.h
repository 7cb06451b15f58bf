#pragma once

#include <cstdint>
#include <string_view>

namespace berth::wire {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

// One field as it stands in the message.
struct ProtoField {
  std::uint32_t number = 0;
  WireType wire = WireType::kVarint;
  std::uint64_t varint = 0;  // for kVarint
  std::string_view bytes;    // for kBytes: the payload
  std::string_view raw;      // tag, length and payload
};

// Walks the fields of one message in the order of the bytes, without copying. Unknown groups are passed over
// whole. What it accepts and refuses is what the Go decoders of Kubernetes do: varints of up to ten bytes
// whose surplus bits are dropped, any order, no group end without its start, no field number zero.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // False at the end and at the first malformed byte; ok() tells which.
  bool Next(ProtoField& field) {
    if (next_ == end_) return false;
    const char* start = next_;
    std::uint64_t tag = 0;
    if (!Varint(tag)) return false;
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.wire = static_cast<WireType>(tag & 7);
    if (static_cast<std::int32_t>(field.number) <= 0) return Fail("illegal tag");
    if (!Payload(field)) return false;
    field.raw = {start, static_cast<std::size_t>(next_ - start)};
    return true;
  }

  // One bare varint, as in a packed list. False at the end too.
  bool NextVarint(std::uint64_t& value) { return next_ != end_ && Varint(value); }

  bool ok() const { return error_ == nullptr; }
  const char* error() const { return error_; }
  const char* position() const { return next_; }

 private:
  bool Varint(std::uint64_t& value) {
    if (next_ != end_ && static_cast<signed char>(*next_) >= 0) {
      value = static_cast<unsigned char>(*next_++);
      return true;
    }
    return LongVarint(value);
  }

  bool Payload(ProtoField& field) {
    switch (field.wire) {
      case WireType::kVarint:
        return Varint(field.varint);
      case WireType::kBytes: {
        std::uint64_t length = 0;
        if (!Varint(length)) return false;
        if (length > static_cast<std::uint64_t>(end_ - next_)) return Fail("unexpected EOF");
        field.bytes = {next_, static_cast<std::size_t>(length)};
        next_ += length;
        return true;
      }
      default:
        return Unusual(field);
    }
  }

  bool Fail(const char* error) {
    error_ = error;
    return false;
  }
  bool Skip(std::size_t size);
  bool LongVarint(std::uint64_t& value);
  bool Unusual(const ProtoField& field);  // fixed widths and groups, which no known field has

  const char* next_;
  const char* end_;
  const char* error_ = nullptr;
};

}  // namespace berth::wire
