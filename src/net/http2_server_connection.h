#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/framed_output.h"
#include "net/http2_server_session.h"
#include "net/http_server_connection.h"

namespace berth::net {

// A connection whose client speaks HTTP/2. An exchange is a stream.
class Http2ServerConnection final : public ServerConnection {
 public:
  Http2ServerConnection(ServerState& server, std::unique_ptr<Transport> transport,
                        std::shared_ptr<const PeerCertificate> peer);

  // Once, with what has been read already.
  void Start(std::string_view bytes);
  void Flush() override;
  void Close() override;
  void CutOff() override;
  void CloseWhenAnswered() override;
  void OnLate(base::TimePoint now) override;
  base::TimePoint deadline() const override {
    return std::min(ServerConnection::deadline(), stall_deadline_);
  }
  std::pair<Claim, base::TimePoint> claim() const override;

  bool IsCurrent(std::uint64_t exchange) const override;
  void Send(std::uint64_t exchange, int status, const Headers& headers, const Body& body) override;
  void StartStream(std::uint64_t exchange, int status, const Headers& headers) override;
  bool WriteStream(std::uint64_t exchange, Buffer data) override;
  void FinishStream(std::uint64_t exchange) override;
  void AbortStream(std::uint64_t exchange) override;
  void Sever() override;
  void OnGone(std::uint64_t exchange, Callback callback) override;
  std::size_t queued_bytes(std::uint64_t exchange) const override;

 private:
  using StreamId = Http2ServerSession::StreamId;
  enum class Phase { kOpen, kLingering, kClosed };

  static StreamId StreamOf(std::uint64_t exchange) { return static_cast<StreamId>(exchange); }
  bool is_closed() const override { return phase_ == Phase::kClosed; }
  void OnBytes(std::string_view bytes) override;
  void OnEnd() override { CutOff(); }
  NetResult<void> FrameMore();
  void Dispatch();
  void TellGone();
  void SetReadDeadline();
  void WriteHalf();
  void Linger();

  Http2ServerSession session_;
  const std::string remote_address_;
  std::map<StreamId, Callback> on_gone_;
  FramedOutput output_;
  base::TimePoint patience_filled_;  // up to here
  base::TimePoint stall_deadline_ = DeadlineSweep::kNever;
  Phase phase_ = Phase::kOpen;
  bool was_greeted_ = false;
  bool was_idle_ = false;
  bool leaving_ = false;
  bool severed_ = false;
};

}  // namespace berth::net
