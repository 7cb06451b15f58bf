#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_parser.h"
#include "net/http_server_connection.h"
#include "net/output_queue.h"

namespace berth::net {

// A connection as it is accepted: it greets, and speaks HTTP/1.1 unless the client turns out to want HTTP/2.
//
// 1. At most one request is in the handler's hands (kAnswering, kStreaming); `exchange_` numbers it.
// 2. A wait for readability is pending in every phase, unless too much unasked input is already kept: this is
//    how a vanished peer is noticed.
class Http1ServerConnection final : public ServerConnection {
 public:
  Http1ServerConnection(ServerState& server, std::unique_ptr<Transport> transport)
      : ServerConnection(server, std::move(transport)) {}

  void Start();
  void Flush() override;
  void Close() override;
  void CutOff() override;
  void CloseWhenAnswered() override;
  void OnLate(base::TimePoint) override { CutOff(); }
  std::pair<Claim, base::TimePoint> claim() const override;

  bool IsCurrent(std::uint64_t exchange) const override {
    return phase_ != Phase::kClosed && exchange == exchange_;
  }
  void Send(std::uint64_t exchange, int status, const Headers& headers, const Body& body) override;
  void StartStream(std::uint64_t exchange, int status, const Headers& headers) override;
  bool WriteStream(std::uint64_t exchange, Buffer data) override;
  void FinishStream(std::uint64_t exchange) override;
  void AbortStream(std::uint64_t) override { Close(); }
  void Sever() override;
  void OnGone(std::uint64_t, Callback callback) override { on_gone_ = std::move(callback); }
  std::size_t queued_bytes(std::uint64_t) const override { return output_.bytes(); }

 private:
  enum class Phase { kHandshake, kReading, kAnswering, kStreaming, kLingering, kClosed };

  bool is_closed() const override { return phase_ == Phase::kClosed; }
  bool is_shaking_hands() const override { return phase_ == Phase::kHandshake; }
  bool wants_bytes() const override;
  void Handshake() override;
  void OnHandshakeDone() override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd() override;

  // The last request has been answered or none has begun: nobody waits for anything on this connection.
  bool is_idle() const;
  void ReadRequests();
  std::size_t FeedParser(std::string_view bytes);
  void Dispatch();
  void Refuse();
  void FinishExchange();
  void Linger();
  std::string Head(int status, const Headers& headers) const;
  // Whether it has taken in the first bytes of a plain connection, because they begin as HTTP/2 does.
  bool MayBeHttp2(std::string_view bytes);
  void SwitchToHttp2(std::string_view bytes);

  std::unique_ptr<RequestParser> parser_;  // only while a request is coming in
  std::string input_;                      // bytes that the parser has not taken yet
  OutputQueue output_;
  Callback on_gone_;
  std::uint64_t exchange_ = 0;
  Phase phase_ = Phase::kReading;
  bool speaks_tls_ = false;
  bool is_new_ = true;  // no byte of a request has come
  bool reading_requests_ = false;
  bool continue_sent_ = false;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool is_http_1_0_ = false;
  bool peer_ended_ = false;
  bool close_when_flushed_ = false;
  bool severed_ = false;
};

}  // namespace berth::net
