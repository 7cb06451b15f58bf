#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "net/event_loop.h"
#include "net/net_error.h"
#include "net/transport.h"

namespace berth::net {

struct ListenOptions {
  std::string host = {};     // an address or a name; empty: all addresses
  std::uint16_t port = 0;    // 0: any free one
  bool shares_port = false;  // with other processes that say so too
};

// Accepts connections until it is destroyed.
class Listener {
 public:
  using AcceptCallback = std::move_only_function<void(std::unique_ptr<Transport>)>;

  static base::Result<std::unique_ptr<Listener>> Listen(EventLoop& loop, const ListenOptions& options,
                                                        AcceptCallback on_accept);
  ~Listener();
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit Listener(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// Looks the host up and tries its addresses in turn. Destroying it before the callback cancels both; the
// callback is never called inside the constructor.
class Dial {
 public:
  using DoneCallback = std::move_only_function<void(NetResult<std::unique_ptr<Transport>>)>;

  Dial(EventLoop& loop, const std::string& host, std::uint16_t port, base::Duration keep_alive,
       DoneCallback done);
  ~Dial();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::net
