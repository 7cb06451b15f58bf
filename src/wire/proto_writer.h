#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "wire/proto_reader.h"

namespace berth::wire {

// Writes a message from its last byte to its first: when a length prefix is due, what it counts is already
// there, so nested messages need neither a sizing pass nor a copy.
class ProtoWriter {
 public:
  // Bytes written so far; the difference of two marks is the size of what was written between them.
  std::size_t size() const { return buffer_.size() - head_; }

  void Bytes(std::string_view bytes) {
    if (bytes.empty()) return;
    Reserve(bytes.size());
    head_ -= bytes.size();
    std::memcpy(buffer_.data() + head_, bytes.data(), bytes.size());
  }

  void Varint(std::uint64_t value) {
    char digits[10];
    std::size_t count = 0;
    for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>(value | 0x80);
    digits[count++] = static_cast<char>(value);
    Bytes({digits, count});
  }

  void Tag(std::uint32_t number, WireType wire) {
    Varint(static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(wire));
  }

  void VarintField(std::uint32_t number, std::uint64_t value) {
    Varint(value);
    Tag(number, WireType::kVarint);
  }

  void BytesField(std::uint32_t number, std::string_view bytes) {
    Bytes(bytes);
    Prefix(number, bytes.size());
  }

  // Length and tag in front of the last `size` bytes.
  void Prefix(std::uint32_t number, std::size_t length) {
    Varint(length);
    Tag(number, WireType::kBytes);
  }

  std::string Take() {
    buffer_.erase(0, head_);
    head_ = 0;
    return std::move(buffer_);
  }

 private:
  void Reserve(std::size_t wanted) {
    if (wanted <= head_) return;
    const std::size_t used = size();
    std::string larger(std::max<std::size_t>(256, 2 * (used + wanted)), '\0');
    if (used > 0) std::memcpy(larger.data() + larger.size() - used, buffer_.data() + head_, used);
    buffer_ = std::move(larger);
    head_ = buffer_.size() - used;
  }

  std::string buffer_;
  std::size_t head_ = 0;
};

}  // namespace berth::wire
