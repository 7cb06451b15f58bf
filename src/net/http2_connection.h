#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "net/client_call.h"
#include "net/framed_output.h"
#include "net/http2_session.h"
#include "net/socket_connection.h"
#include "net/transport.h"

namespace berth::net {

// One connection of a client's pool that carries many calls at a time.
class Http2Connection final : public SocketConnection, public std::enable_shared_from_this<Http2Connection> {
 public:
  struct Lost {
    std::shared_ptr<ClientCall> call;
    bool may_resend;  // it did nothing yet, or doing it twice does no harm
  };
  // What the pool is told. The connection has let go of the calls before each of these.
  struct Owner {
    std::function<void(std::shared_ptr<ClientCall>)> on_ended;  // well
    std::function<void(Lost, NetError)> on_lost;                // this call alone
    // The connection is closed; what it carried is in the list.
    std::function<void(Http2Connection&, std::vector<Lost>, NetError)> on_closed;
    std::function<void(base::TimePoint)> on_deadline;
    std::function<void()> on_room;  // after there was none
  };

  Http2Connection(EventLoop& loop, const HttpClientOptions& options, Owner& owner,
                  std::unique_ptr<Transport> transport);

  // Once, before anything else.
  void Start();
  bool has_room() const {
    return !closed_ && !draining_ && session_.has_room() && (!is_new() || calls_.empty());
  }
  // How many calls it may carry is not known yet: it gets one.
  bool is_new() const { return !session_.knows_settings(); }
  bool is_idle() const { return calls_.empty(); }
  base::TimePoint deadline() const { return deadline_; }

  // If there is room. Sent by the next Flush, together with all others.
  void Carry(std::shared_ptr<ClientCall> call);
  void Flush() override;
  // Lets go of the call and tells the server, with the next Flush.
  void Drop(const ClientCall& call);
  // Without telling the owner; returns what it carried.
  std::vector<Lost> Close();
  // Takes no more calls, and closes after the last.
  void CloseAfterCalls();
  void TimeOut();

 private:
  std::shared_ptr<SocketConnection> Keep() override { return shared_from_this(); }
  bool is_closed() const override { return closed_; }
  void OnBytes(std::string_view bytes) override;
  void OnTurnRead() override;
  void OnEnd() override { Fail({ErrorKind::kReset, "unexpected EOF"}); }
  void OnBroken() override { Fail(transport_->error()); }
  void OnStreamEnd(Http2Session::StreamId stream, std::optional<NetError> error, bool untouched);
  std::shared_ptr<ClientCall> CallOf(Http2Session::StreamId stream) const;
  bool MayResend(const ClientCall& call) const;
  void CloseIfDone();
  void Fail(NetError error);
  void SetDeadline(base::Duration after);
  // The deadline by which the server is asked whether it is there.
  void ExpectBytes();

  const HttpClientOptions& options_;
  Owner& owner_;
  Http2Session session_;
  absl::flat_hash_map<Http2Session::StreamId, std::shared_ptr<ClientCall>> calls_;
  FramedOutput output_;
  base::TimePoint deadline_ = DeadlineSweep::kNever;
  bool answered_ = false;  // some call, so that the server did accept the connection
  bool pinged_ = false;
  bool draining_ = false;
  bool closed_ = false;
  bool told_settings_ = false;  // that there is room, once the server had said for how many
};

}  // namespace berth::net
