#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/api_client.h"
#include "client/connection.h"
#include "client/loop_executor.h"
#include "client/object_store.h"

#include "base/event.h"
#include "base/task.h"
#include "core/messages.h"

namespace berth::shell {

// Reads and decodes what a server says on a thread of its own, so that a list of many pods or a burst of
// events does not keep the core waiting. What was decoded since the core last looked comes at once, a part of
// it at a time.
//
// Everything here is called on the thread of the home loop, and calls back there; what goes on inside belongs
// to the other thread alone. Connections are its own too: nothing that is written shares one with a watch.
class WatchThread {
 public:
  struct Options {
    client::ConnectionConfig connection;
    client::ApiClientOptions client;
    std::uint64_t seed = 0;
    // Extenders are shown pods, or also nodes, with every field that the server sent.
    bool keeps_whole_pods = false;
    bool keeps_whole_nodes = false;
    // Called when a watch fell silent, which may mean that all connections died.
    std::function<void()> on_silence = {};
  };
  using Sink = std::function<void(std::span<const core::Input>)>;

  // `home` outlives it.
  static base::Result<std::unique_ptr<WatchThread>> Make(client::LoopExecutor& home, Options options,
                                                         Sink sink);
  // Ends the thread. The sink is not called any more.
  ~WatchThread();
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  void Start();
  // How long what the server says may gather while there is much of it; never shorter than a time of its own.
  void SetPace(base::Duration pace);

  // The sink has had the whole state of every kind.
  bool has_synced() const { return synced_.IsSet(); }
  base::Task<void> WaitForSync();
  // Returns when the sink has had all that the server knew at the time of this call; see client/takeover.h.
  base::Task<void> CatchUp();

 private:
  struct Reader;
  struct Mailbox;

  WatchThread(client::LoopExecutor& home, std::function<void()> on_silence, Sink sink);
  void TakeMail();
  void HandOn(std::vector<client::EventBatch> batches);

  client::LoopExecutor& home_;
  std::function<void()> on_silence_;
  Sink sink_;
  base::Event synced_;
  base::Event caught_up_;
  std::shared_ptr<Mailbox> mailbox_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace berth::shell
