#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "net/harness.h"

namespace berth::net {

// A server, and peers that say to it what no client would.
class ServerTest : public NetTest {
 protected:
  // A peer on the plain port, which has said nothing yet. A `deaf` one takes nothing from its socket.
  std::shared_ptr<RawPeer> Connect(bool deaf = false) {
    std::shared_ptr<RawPeer> peer;
    Dial dial(loop_, "127.0.0.1", server_->port(), std::chrono::seconds(30),
              [&](NetResult<std::unique_ptr<Transport>> transport) {
                peer = std::make_shared<RawPeer>(loop_, std::move(*transport));
                if (!deaf) peer->Listen();
              });
    EXPECT_TRUE(RunUntil([&] { return peer != nullptr; }));
    return peer;
  }
  // Begins an answer to each request that never ends by itself.
  HttpServer::Handler Watches() {
    return [this](Request, Responder responder) {
      streams_.push_back(responder.StartStream(200, {}));
      streams_.back().OnGone([this, index = streams_.size() - 1] { gone_.push_back(index); });
    };
  }

  std::vector<ResponseStream> streams_;  // of Watches, as the server holds them
  std::vector<std::size_t> gone_;        // those whose readers have left
};

}  // namespace berth::net
