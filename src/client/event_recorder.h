#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

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
// Never in anybody's way: nobody waits, and when too many are on their way, new ones are dropped.
class EventRecorder {
 public:
  enum class Api { kNew, kCore };
  struct Options {
    // Nothing: Run asks the server first, and what is recorded waits for the answer.
    std::optional<Api> api = Api::kNew;
    std::string hostname;
    std::uint64_t seed = 0;
    std::size_t pending_max = 1000;
  };

  EventRecorder(ApiClient& client, Options options);

  void Record(EventNote note);
  // Finds the API if it is not given, then looks after the series. Never returns.
  base::Task<void> Run();

  std::size_t series_count() const { return series_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
  enum class Attempt { kDone, kAgain };

  static Key KeyOf(const api::Event& event);
  api::Event MakeEvent(EventNote note);
  base::Task<void> Write(api::Event event);
  base::Task<Attempt> WriteOnce(const api::Event& event);
  ApiRequest CreateRequest(const api::Event& event) const;
  ApiRequest PatchRequest(const api::Event& event) const;
  base::Task<void> FindApi();
  void Spawn(const api::Event& event);
  void CloseIdle();
  api::MicroTime Now() const;

  ApiClient& client_;
  base::Executor& executor_;
  const Options options_;
  base::Random random_;
  Api api_;
  base::Event api_known_;
  std::map<Key, api::Event> series_;
  std::uint64_t dropped_ = 0;
  // Last: the tasks use all of the above.
  base::TaskSet writes_;
};

// Which events the server has: core events if it says that events.k8s.io is not there or not for us. A server
// that does not answer is asked until it does.
base::Task<EventRecorder::Api> FindEventApi(ApiClient& client);

}  // namespace berth::client
