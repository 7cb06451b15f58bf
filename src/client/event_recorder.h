#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/api_client.h"

#include "api/events.h"
#include "base/event.h"
#include "base/executor.h"
#include "base/random.h"

namespace berth::client {

// Something that people should be able to read about an object.
struct EventNote {
  api::ObjectReference regarding;
  std::optional<api::ObjectReference> related = {};
  std::string type = "Normal";
  std::string reason;
  std::string action;
  std::string note;  // cut to what a server takes
  std::string reporting_controller;
};

// Writes events, and counts those that repeat instead of writing them again.
//
// Events with the same key (everything but the note) form a series: the first is created, the second makes
// the series known, later ones are counted here. Every 30 minutes all counts are written; an event that did
// not come again for 6 minutes is closed, its count written one last time.
//
// Never in anybody's way: nobody waits, few requests are made at a time, the others stand in line, and when
// too many do, new ones are dropped.
class EventRecorder {
 public:
  enum class Api { kNew, kCore };
  struct Options {
    // Nothing: Run asks the server first, and what is recorded waits for the answer.
    std::optional<Api> api = Api::kNew;
    std::string hostname;
    std::uint64_t seed = 0;
    // kube-scheduler has 1,000; here bindings run ahead of their events as a rule, and each is to get its
    // own.
    std::size_t pending_max = 20'000;
    // So that events, of which there are as many as bindings, leave the server and the connection to these.
    std::size_t requests_max = 32;
  };

  EventRecorder(ApiClient& client, Options options);

  void Record(EventNote note);
  // Finds the API if it is not given, then looks after the series. Never returns.
  base::Task<void> Run();

  std::size_t series_count() const { return known_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  enum class Attempt { kDone, kAgain };
  // Of everything but the note, wide enough that no two keys ever meet.
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  // What was written once may come again for minutes, and there is one of them for every pod that was bound:
  // only what the next of its kind does not say itself is kept.
  struct Known {
    std::int64_t created_nanos = 0;
    std::string note;
    std::unique_ptr<api::Event> series;  // the whole event, once it did come again
  };
  // Thousands may stand in line, so they are kept as what is sent of them.
  struct Waiting {
    std::string namespace_;
    std::string event;  // encoded
    bool is_series = false;
    int tries = 0;
  };

  static Key KeyOf(const EventNote& note);
  api::Event MakeEvent(EventNote note, std::int64_t created_nanos) const;
  void Enqueue(const api::Event& event);
  base::Task<void> WriteWaiting();
  base::Task<void> WriteLater(Waiting waiting);
  base::Task<Attempt> WriteOnce(const Waiting& waiting);
  ApiRequest CreateRequest(const Waiting& waiting) const;
  ApiRequest PatchRequest(const api::Event& event) const;
  base::Task<void> FindApi();
  void StartWriting();
  void CloseIdle();
  std::int64_t NowNanos() const;

  ApiClient& client_;
  base::Executor& executor_;
  const Options options_;
  base::Random random_;
  Api api_;
  base::Event api_known_;
  absl::flat_hash_map<Key, Known> known_;
  std::vector<Key> known_in_order_;  // of their creation
  std::deque<Waiting> waiting_;
  std::size_t pending_ = 0;  // waiting, on their way, or to be tried again
  std::size_t writers_ = 0;
  std::uint64_t dropped_ = 0;
  // Last: the tasks use all of the above.
  base::TaskSet writes_;
};

// Which events the server has: core events if it says that events.k8s.io is not there or not for us. A server
// that does not answer is asked until it does.
base::Task<EventRecorder::Api> FindEventApi(ApiClient& client);

}  // namespace berth::client
