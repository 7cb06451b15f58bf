#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/net_error.h"
#include "net/transport.h"

namespace berth::net {

// Frames of HTTP/2 that wait for the socket. More are made only when all of the last have been taken: what is
// not in frames yet can still be held back by its reader, or dropped, without holding up others.
class FramedOutput {
 public:
  // Frames may be appended.
  std::string& frames() { return frames_; }
  std::string_view unsent() const { return std::string_view(frames_).substr(sent_); }

  // Writes what is left, then what `more` appends, until that is nothing (kDone) or the transport wants to
  // wait or fails. An error is that of `more`.
  template <std::invocable<std::string&> More>
  NetResult<Transport::Io> Flush(Transport& transport, More more) {
    while (true) {
      if (sent_ == frames_.size()) {
        frames_.clear();
        sent_ = 0;
        if (auto made = more(frames_); !made) return std::unexpected(std::move(made.error()));
        if (frames_.empty()) return Transport::Io::kDone;
      }
      const std::string_view rest = unsent();
      const Transport::Outcome outcome = transport.Write(std::span(&rest, 1));
      if (outcome.io != Transport::Io::kDone) return outcome.io;
      sent_ += outcome.bytes;
    }
  }

 private:
  std::string frames_;
  std::size_t sent_ = 0;
};

}  // namespace berth::net
