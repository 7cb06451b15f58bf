#include "shell/watch_thread.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "client/reflector.h"
#include "client/takeover.h"

#include "base/random.h"
#include "base/task_group.h"
#include "net/event_loop.h"
#include "shell/free_memory.h"
#include "shell/watched_objects.h"

namespace berth::shell {
namespace {

// How often reflectors are asked whether they have everything, while the process starts.
constexpr base::Duration kSyncCheck = std::chrono::milliseconds(20);
// An input is several times as large as what it is made from, and the list of all pods may be long.
constexpr std::size_t kInputsMax = 512;
// How often events are read while there are many; see EventLoop.
constexpr base::Duration kWatchPace = std::chrono::milliseconds(4);

}  // namespace

// What goes from the reader to the home thread. It outlives both: a letter may be on its way when they end.
struct WatchThread::Mailbox {
  struct Mail {
    std::vector<client::EventBatch> batches;
    bool has_synced = false;
    bool has_caught_up = false;
    bool fell_silent = false;
  };

  // Changes the mail, and has it fetched unless somebody is on the way already. On the reader's thread.
  template <class Change>
  static void Put(const std::shared_ptr<Mailbox>& mailbox, Change&& change) {
    {
      const std::lock_guard lock(mailbox->mutex);
      change(mailbox->mail);
      if (std::exchange(mailbox->is_fetched, true)) return;
    }
    mailbox->home.Post([mailbox] {
      if (mailbox->owner != nullptr) mailbox->owner->TakeMail();
    });
  }

  Mail Take() {
    const std::lock_guard lock(mutex);
    is_fetched = false;
    return std::exchange(mail, {});
  }

  net::EventLoop& home;
  WatchThread* owner;  // of the home thread; null once it is gone
  std::mutex mutex = {};
  Mail mail = {};  // guarded by mutex, like the next
  bool is_fetched = false;
};

// Lives on its own thread from Start() until it is destroyed; made and destroyed on the home thread.
struct WatchThread::Reader {
  explicit Reader(std::shared_ptr<Mailbox> to)
      : executor(loop), mailbox(std::move(to)), tasks(executor.executor()) {
    loop.SetPace(kWatchPace);
  }
  ~Reader() {
    loop.Stop();
    if (thread.joinable()) thread.join();
  }

  base::Result<void> Connect(Options options) {
    auto made = client::Connection::Make(executor, options.connection, client::Surroundings::OfThisProcess());
    if (!made) return std::unexpected(std::move(made.error()));
    connection = *std::move(made);
    client = std::make_unique<client::ApiClient>(executor.executor(), connection->transport(),
                                                 connection->credentials(), std::move(options.client));
    base::Random random(options.seed);
    for (const client::Resource resource : WatchedResources()) {
      reflectors.push_back(std::make_unique<client::Reflector>(
          *client, shared,
          client::Reflector::Options{
              .resource = resource,
              .seed = random.Next(),
              .keep_whole = (resource == client::Resource::kPods && options.keeps_whole_pods) ||
                            (resource == client::Resource::kNodes && options.keeps_whole_nodes),
              .on_silence =
                  [this] { Mailbox::Put(mailbox, [](Mailbox::Mail& mail) { mail.fell_silent = true; }); }},
          [this](client::EventBatch batch) {
            Mailbox::Put(mailbox, [&](Mailbox::Mail& mail) { mail.batches.push_back(std::move(batch)); });
          }));
    }
    return {};
  }

  void Start() {
    tasks.Spawn(connection->Run());
    for (const auto& reflector : reflectors) tasks.Spawn(reflector->Run());
    tasks.Spawn(ReportSync());
    executor.Wake();
    thread = std::thread([this] { loop.Run(); });
  }

  base::Task<void> ReportSync() {
    const auto has_synced = [](const auto& reflector) { return reflector->has_synced(); };
    while (!std::ranges::all_of(reflectors, has_synced)) co_await executor.executor().SleepFor(kSyncCheck);
    Mailbox::Put(mailbox, [](Mailbox::Mail& mail) { mail.has_synced = true; });
    ReturnFreeMemory();
  }

  base::Task<void> CatchUp() {
    std::vector<client::Reflector*> all;
    all.reserve(reflectors.size());
    for (const auto& reflector : reflectors) all.push_back(reflector.get());
    co_await client::CatchUp(*client, all);
    Mailbox::Put(mailbox, [](Mailbox::Mail& mail) { mail.has_caught_up = true; });
  }

  net::EventLoop loop;
  client::LoopExecutor executor;
  std::shared_ptr<Mailbox> mailbox;
  std::unique_ptr<client::Connection> connection;
  std::unique_ptr<client::ApiClient> client;
  api::SharedParts shared;
  std::vector<std::unique_ptr<client::Reflector>> reflectors;
  // The tasks refer to the rest, the thread to all of it.
  base::TaskSet tasks;
  std::thread thread;
};

WatchThread::WatchThread(client::LoopExecutor& home, std::function<void()> on_silence, Sink sink)
    : home_(home),
      on_silence_(std::move(on_silence)),
      sink_(std::move(sink)),
      synced_(home.executor()),
      caught_up_(home.executor()),
      mailbox_(new Mailbox{.home = home.loop(), .owner = this}),
      reader_(std::make_unique<Reader>(mailbox_)) {}

WatchThread::~WatchThread() { mailbox_->owner = nullptr; }

base::Result<std::unique_ptr<WatchThread>> WatchThread::Make(client::LoopExecutor& home, Options options,
                                                             Sink sink) {
  std::unique_ptr<WatchThread> thread(new WatchThread(home, std::move(options.on_silence), std::move(sink)));
  if (auto connected = thread->reader_->Connect(std::move(options)); !connected) {
    return std::unexpected(std::move(connected.error()));
  }
  return thread;
}

void WatchThread::Start() { reader_->Start(); }

void WatchThread::SetPace(base::Duration pace) { reader_->loop.SetPace(std::max(kWatchPace, pace)); }

base::Task<void> WatchThread::WaitForSync() { co_await synced_.WaitFor(); }

base::Task<void> WatchThread::CatchUp() {
  caught_up_.Reset();
  reader_->loop.Post([reader = reader_.get()] {
    reader->tasks.Spawn(reader->CatchUp());
    reader->executor.Wake();
  });
  co_await caught_up_.WaitFor();
}

void WatchThread::HandOn(std::vector<client::EventBatch> batches) {
  std::vector<core::Input> inputs;
  for (client::EventBatch& batch : batches) {
    const std::vector<client::ObjectEvent> events = std::move(batch.events);
    for (std::size_t at = 0; at < events.size(); at += kInputsMax) {
      AppendInputs(std::span(events).subspan(at, std::min(kInputsMax, events.size() - at)), inputs);
      if (inputs.size() < kInputsMax) continue;
      sink_(inputs);
      inputs.clear();
    }
  }
  if (!inputs.empty()) sink_(inputs);
}

void WatchThread::TakeMail() {
  Mailbox::Mail mail = mailbox_->Take();
  // Before the sink, whose pods would be bound over connections that are dead.
  if (mail.fell_silent && on_silence_) on_silence_();
  HandOn(std::move(mail.batches));
  // After the sink: whoever waits for these may count on it.
  if (mail.has_synced) {
    synced_.Set();
    ReturnFreeMemory();
    // The start ends here: from now on nobody connects, negotiates or reads lists in the usual course.
    ReturnStartupPages();
  }
  if (mail.has_caught_up) caught_up_.Set();
  home_.Wake();
}

}  // namespace berth::shell
