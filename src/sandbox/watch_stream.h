#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/timers.h"
#include "sandbox/exchange.h"
#include "sandbox/list_options.h"
#include "sandbox/media.h"
#include "sandbox/store.h"

namespace berth::sandbox {

struct TableOptions;

// One watch: what is there or what happened since, then what happens, until its time is up, its reader goes
// or falls behind.
//
// Each change is sent once and in the order of versions. A reader that does not keep up is cut off rather
// than waited for: it watches again from where it was, and nobody else is delayed.
class WatchStream final : public ChangeReceiver {
 public:
  struct Settings {
    const Resource* served = nullptr;
    ListOptions options;
    AnswerForm form;
    std::string include_object = {};  // for tables
    base::Duration lifetime = {};
    base::Duration bookmark_interval = std::chrono::minutes(1);
    std::size_t backlog_max = std::size_t{8} << 20;  // bytes queued beyond the initial events
  };

  // `ended` is called once, never inside a call of this class; the stream may then be destroyed.
  WatchStream(Store& store, const base::Clock& clock, base::TimerQueue& timers, Settings settings,
              std::unique_ptr<StreamSink> sink, std::function<void()> ended);
  ~WatchStream() override;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  void Start();
  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void Begin();
  void SendInitialEvents();
  void Replay();
  void SendChange(const Change& change, ChangeFrames& frames);
  void SendObject(wire::WatchType type, const Revision& object);
  void SendBookmark(bool ends_initial_events);
  void SendExpired(std::uint64_t oldest);
  void ArmBookmark();
  void Write(net::Buffer frame);
  // Lets go of everything and tells the owner.
  void End(bool finish);

  Store& store_;
  const base::Clock& clock_;
  base::TimerQueue& timers_;
  const Settings settings_;
  std::unique_ptr<StreamSink> sink_;
  std::function<void()> ended_;

  std::optional<SubscriptionId> subscription_;
  std::optional<std::uint64_t> wait_;
  base::TimerQueue::TimerId deadline_timer_;
  base::TimerQueue::TimerId bookmark_timer_;
  base::TimerQueue::TimerId end_timer_;
  base::TimePoint deadline_;
  std::uint64_t sent_version_ = 0;  // every change up to here was sent or did not concern this watch
  std::size_t backlog_allowed_ = 0;
  bool table_header_sent_ = false;
};

}  // namespace berth::sandbox
