#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "net/http_message.h"

namespace berth::net {

// What is left to send of an answer's body.
class BodyQueue {
 public:
  void Push(Buffer data) {
    bytes_ += data->size();
    pieces_.push_back(std::move(data));
  }
  std::size_t bytes() const { return bytes_; }
  // Appends the first `size` bytes, of which there are as many.
  void Take(std::size_t size, std::string& out) {
    bytes_ -= size;
    while (size > 0) {
      const std::string& piece = *pieces_[first_];
      const std::size_t taken = std::min(size, piece.size() - offset_);
      out.append(piece, offset_, taken);
      size -= taken;
      offset_ += taken;
      if (offset_ == piece.size()) {
        pieces_[first_++].reset();
        offset_ = 0;
      }
    }
    // Nothing is kept of a queue that has run dry, and little of one that never quite does.
    if (bytes_ == 0 || (first_ > 64 && first_ * 2 > pieces_.size())) {
      pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
      if (bytes_ == 0) pieces_ = {};
    }
  }

 private:
  std::vector<Buffer> pieces_;
  std::size_t first_ = 0;   // pieces before this one are sent
  std::size_t offset_ = 0;  // of the first piece, this much is sent
  std::size_t bytes_ = 0;
};

}  // namespace berth::net
