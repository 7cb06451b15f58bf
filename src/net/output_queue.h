#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.h"
#include "net/transport.h"

namespace berth::net {

// What a connection still has to send. Bodies are shared with other connections and never copied; everything
// queued goes out in one gather write.
class OutputQueue {
 public:
  void PushText(std::string text) { Push(std::move(text), nullptr, ""); }
  void PushMessage(std::string head, const Body& body);
  // One chunk of a chunked body; nothing if it is empty, since an empty chunk would end the body.
  void PushChunk(Buffer data);
  void PushRaw(Buffer data) { Push("", std::move(data), ""); }
  void PushLastChunk() { PushText("0\r\n\r\n"); }

  bool empty() const { return bytes_ == 0; }
  std::size_t bytes() const { return bytes_; }
  // Bytes that went out since the queue was made.
  std::size_t sent() const { return sent_; }

  // Writes until nothing is left (kDone) or the transport wants to wait or fails.
  Transport::Io Flush(Transport& transport);

 private:
  struct Piece {
    std::string head;
    Buffer body;
    std::string_view tail;

    std::size_t size() const { return head.size() + (body ? body->size() : 0) + tail.size(); }
  };

  void Push(std::string head, Buffer body, std::string_view tail);
  void Drop(std::size_t bytes);

  std::vector<Piece> pieces_;
  std::size_t first_ = 0;         // pieces before this one are sent
  std::size_t first_offset_ = 0;  // of the first piece, this much is sent
  std::size_t bytes_ = 0;
  std::size_t sent_ = 0;
};

}  // namespace berth::net
