#include "net/socket_connection.h"

#include <span>

namespace berth::net {

void SocketConnection::WaitReadable() {
  if (waiting_readable_ || is_closed() || !wants_bytes()) return;
  waiting_readable_ = true;
  transport_->WaitReadable([self = Keep()] {
    self->waiting_readable_ = false;
    if (!self->is_closed()) self->OnReadable();
  });
}

void SocketConnection::WaitWritable() {
  if (waiting_writable_) return;
  waiting_writable_ = true;
  OnBlocked();
  transport_->WaitWritable([self = Keep()] {
    self->waiting_writable_ = false;
    self->OnUnblocked();
    if (!self->is_closed()) self->OnWritable();
  });
}

void SocketConnection::Handshake() {
  switch (transport_->Handshake()) {
    case Transport::Io::kDone:
      OnHandshakeDone();
      return;
    case Transport::Io::kWantRead:
      WaitReadable();
      return;
    case Transport::Io::kWantWrite:
      WaitWritable();
      return;
    case Transport::Io::kEnd:
    case Transport::Io::kFailed:
      OnBroken();
      return;
  }
}

void SocketConnection::OnReadable() {
  if (is_shaking_hands()) {
    Handshake();
    return;
  }
  const std::span<char> scratch = loop_.scratch();
  Transport::Io io = Transport::Io::kDone;
  for (int reads = 0; reads == 0 || (reads < reads_in_turn_ && transport_->holds_bytes()); ++reads) {
    const Transport::Outcome outcome = transport_->Read(scratch);
    io = outcome.io;
    if (io == Transport::Io::kEnd) {
      OnEnd();
      return;
    }
    if (io == Transport::Io::kFailed) {
      OnBroken();
      return;
    }
    if (io != Transport::Io::kDone) break;
    OnBytes({scratch.data(), outcome.bytes});
    if (is_closed()) return;
  }
  OnTurnRead();
  if (is_closed()) return;
  // TLS that must speak before it can go on would ask for the same again as long as bytes come.
  if (io == Transport::Io::kWantWrite) {
    WaitWritable();
  } else {
    WaitReadable();
  }
}

void SocketConnection::OnWritable() {
  if (is_shaking_hands()) {
    Handshake();
    return;
  }
  Flush();
  WaitReadable();
}

bool SocketConnection::IsFlushed(Transport::Io io) {
  switch (io) {
    case Transport::Io::kDone:
      return true;
    case Transport::Io::kWantRead:  // only a renegotiation would ask for this, and there is none
    case Transport::Io::kWantWrite:
      WaitWritable();
      return false;
    case Transport::Io::kEnd:
    case Transport::Io::kFailed:
      OnWriteFailed();
      return false;
  }
  return false;
}

}  // namespace berth::net
