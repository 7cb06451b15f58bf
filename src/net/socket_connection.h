#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "net/transport.h"

namespace berth::net {

// What every connection does with its socket, at either end and whatever it speaks: it shakes hands, reads
// what has come into the loop's scratch memory, and writes until the socket takes no more.
//
// Derived classes say what the bytes mean. A wait for the socket keeps the connection alive; once it is
// closed, nothing is called any more.
class SocketConnection {
 public:
  virtual ~SocketConnection() = default;
  SocketConnection(const SocketConnection&) = delete;
  SocketConnection& operator=(const SocketConnection&) = delete;

 protected:
  // Reads in one turn of the loop, as long as TLS holds bytes: many for a connection that carries much. After
  // them others are heard.
  static constexpr int kManyReads = 8;
  SocketConnection(EventLoop& loop, std::unique_ptr<Transport> transport, int reads_in_turn = 1)
      : loop_(loop), transport_(std::move(transport)), reads_in_turn_(reads_in_turn) {}

  // Reads, or goes on with the handshake, when there is something to read.
  void WaitReadable();
  // Flushes, or goes on with the handshake, when the socket takes bytes again.
  void WaitWritable();
  // The socket has taken less than it was given: nothing is written until it takes more.
  bool is_blocked() const { return waiting_writable_; }
  // Tried whenever the socket is ready for it, until OnHandshakeDone or OnBroken.
  virtual void Handshake();
  // What a flush came to. True if everything went out; otherwise it goes on by itself, or has failed.
  bool IsFlushed(Transport::Io io);

  virtual std::shared_ptr<SocketConnection> Keep() = 0;
  virtual bool is_closed() const = 0;
  virtual bool is_shaking_hands() const { return false; }
  // Whether to wait for bytes, which is also how a peer is noticed that goes away.
  virtual bool wants_bytes() const { return true; }

  virtual void OnHandshakeDone() {}
  virtual void OnBytes(std::string_view bytes) = 0;
  // All that is read in this turn has been.
  virtual void OnTurnRead() {}
  // The peer will send no more.
  virtual void OnEnd() = 0;
  virtual void OnBroken() = 0;
  virtual void OnWriteFailed() { OnBroken(); }
  virtual void OnBlocked() {}
  virtual void OnUnblocked() {}
  virtual void Flush() = 0;

  EventLoop& loop_;
  std::unique_ptr<Transport> transport_;

 private:
  void OnReadable();
  void OnWritable();

  const int reads_in_turn_;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
};

}  // namespace berth::net
