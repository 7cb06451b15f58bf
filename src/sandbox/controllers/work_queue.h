#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "sandbox/control_plane.h"

namespace berth::sandbox {

// Keys of objects that a controller is to look at, each once however often it was asked for.
//
// The handler runs from a timer, never inside the write that asked for it: what it reads is the outcome of
// everything that happened until then, and what it writes is announced before its next call. It decides by
// what is, not by what happened, so that a missed or repeated call does no harm.
class WorkQueue {
 public:
  using Handler = std::function<void(const std::string& key)>;

  WorkQueue(ControlPlane& plane, Handler handler) : plane_(plane), handler_(std::move(handler)) {}
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void Add(const std::string& key) { AddAfter(key, base::Duration(0)); }
  // For a handler that looks at `size` objects: at once if they are few, else a moment later, so that a
  // thousand changes of a large set do not cost a thousand looks at all of it.
  void AddGathered(const std::string& key, std::size_t size);
  // Of two times for one key the earlier counts; the handler asks again for what is later.
  void AddAfter(const std::string& key, base::Duration delay);

 private:
  struct Entry {
    base::TimePoint deadline;
    base::TimerQueue::TimerId timer;
  };

  ControlPlane& plane_;
  const Handler handler_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace berth::sandbox
