#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "client/objects.h"
#include "client/status_error.h"
#include "client/transport.h"

#include "base/boxed.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "wire/watch_frame.h"

namespace berth::client {

// One watch request from its answer to its end.
class WatchSession {
 public:
  struct Event {
    wire::WatchType type = wire::WatchType::kAdded;
    ReadObject object;            // empty for kError
    base::Boxed<ApiError> error;  // only of kError: what the server said, or why its bytes make no sense
  };
  enum class Filled { kData, kEnd, kSilent, kCancelled };

  // A server sends a bookmark about once a minute, so a stream that is silent for longer has nothing to say
  // or goes over a connection that died without a word. HTTP/1.1 cannot ask which; a new watch costs little.
  static constexpr base::Duration kSilenceMax = std::chrono::seconds(75);

  // No response: a stream that ended before it began.
  WatchSession(base::Executor& executor, std::unique_ptr<OpenResponse> response, ObjectReader& reader,
               const ResourceInfo& resource, base::TimePoint opened);

  // The next event of what has arrived. Objects of other kinds are passed over.
  std::optional<Event> Next();
  // Waits for more. A connection that breaks is an end like any other: the watch goes on from the last event.
  base::Task<Filled> Fill(base::CancellationToken token);

  // Since the session was opened or last restarted.
  std::size_t event_count() const { return event_count_; }
  base::TimePoint opened() const { return opened_; }
  void Restart(base::TimePoint now) {
    opened_ = now;
    event_count_ = 0;
  }

 private:
  Event Broken(const std::string& why);
  std::optional<Event> ReadFrame(std::string_view frame);

  base::Executor& executor_;
  std::unique_ptr<OpenResponse> response_;
  ObjectReader& reader_;
  const ResourceInfo& resource_;
  base::TimePoint opened_;
  Encoding encoding_;
  wire::FrameSplitter splitter_;
  std::string chunk_;  // what the splitter points into
  std::size_t event_count_ = 0;
  bool broken_ = false;
};

}  // namespace berth::client
