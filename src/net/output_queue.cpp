#include "net/output_queue.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "fmt/format.h"

namespace berth::net {
namespace {

constexpr std::size_t kViewsMax = 192;
// A queue that has run dry keeps no more room than an ordinary response needs: there may be 10,000 of them.
constexpr std::size_t kIdlePieces = 1;

}  // namespace

void OutputQueue::Push(std::string head, Buffer body, std::string_view tail) {
  Piece piece{.head = std::move(head), .body = std::move(body), .tail = tail};
  bytes_ += piece.size();
  pieces_.push_back(std::move(piece));
}

void OutputQueue::PushMessage(std::string head, const Body& body) {
  Push(std::move(head), body.empty() ? nullptr : body.front(), "");
  for (std::size_t i = 1; i < body.size(); ++i) Push("", body[i], "");
}

void OutputQueue::PushChunk(Buffer data) {
  if (data->empty()) return;
  std::string head = fmt::format("{:x}\r\n", data->size());
  Push(std::move(head), std::move(data), "\r\n");
}

Transport::Io OutputQueue::Flush(Transport& transport) {
  while (!empty()) {
    std::array<std::string_view, kViewsMax> views;
    std::size_t count = 0;
    std::size_t skip = first_offset_;
    for (std::size_t i = first_; i < pieces_.size() && count + 3 <= views.size(); ++i) {
      const Piece& piece = pieces_[i];
      for (std::string_view part :
           {std::string_view(piece.head), piece.body ? std::string_view(*piece.body) : "", piece.tail}) {
        const std::size_t skipped = std::min(skip, part.size());
        skip -= skipped;
        part.remove_prefix(skipped);
        if (!part.empty()) views[count++] = part;
      }
    }
    const Transport::Outcome outcome = transport.Write(std::span(views).first(count));
    if (outcome.io != Transport::Io::kDone) return outcome.io;
    Drop(outcome.bytes);
  }
  return Transport::Io::kDone;
}

void OutputQueue::Drop(std::size_t bytes) {
  bytes_ -= bytes;
  sent_ += bytes;
  first_offset_ += bytes;
  while (first_ < pieces_.size() && first_offset_ >= pieces_[first_].size()) {
    first_offset_ -= pieces_[first_].size();
    pieces_[first_].body.reset();
    ++first_;
  }
  if (bytes_ == 0) {
    pieces_.clear();
    first_ = 0;
    if (pieces_.capacity() > kIdlePieces) pieces_.shrink_to_fit();
  } else if (first_ > 64 && first_ * 2 > pieces_.size()) {
    // A reader that is never quite finished must not make the queue grow for ever.
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

}  // namespace berth::net
