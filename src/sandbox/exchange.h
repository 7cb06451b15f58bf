#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "net/http_message.h"

namespace berth::sandbox {

// The body of an answer that is sent bit by bit. Dropping it ends the answer.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // False: the reader is gone or hopelessly behind.
  virtual bool Write(net::Buffer data) = 0;
  virtual std::size_t queued_bytes() const = 0;
  virtual void Finish() = 0;
  // Breaks off the connection below, in the middle of what is being sent.
  virtual void Sever() = 0;
  // Called once when the reader goes away by itself, never inside a call of this class.
  virtual void OnGone(std::move_only_function<void()> callback) = 0;
};

// Where the one answer to a request goes: a connection, or a test.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void Send(int status, const net::Headers& headers, const net::Body& body) = 0;
  virtual std::unique_ptr<StreamSink> StartStream(int status, const net::Headers& headers) = 0;
};

}  // namespace berth::sandbox
