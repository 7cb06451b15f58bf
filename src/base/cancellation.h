#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/intrusive_list.h"

namespace berth::base {

class CancellationCallback;

namespace internal {
struct CancellationState {
  bool cancelled = false;
  IntrusiveList<CancellationCallback> callbacks;
};
}  // namespace internal

// Asks whether, and is told when, the work that it was handed to should stop. Cheap to copy. A token without
// a source is never cancelled. For one thread, as everything on an Executor.
class CancellationToken {
 public:
  CancellationToken() = default;
  bool IsCancelled() const { return state_ != nullptr && state_->cancelled; }

 private:
  friend class CancellationSource;
  friend class CancellationCallback;
  explicit CancellationToken(std::shared_ptr<internal::CancellationState> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::CancellationState> state_;
};

// Runs a function once if its token is cancelled while this object lives, at once if it is already. The
// function may destroy this object and others of its token.
class CancellationCallback : public ListHook {
 public:
  CancellationCallback(CancellationToken token, std::move_only_function<void()> function);

 private:
  friend class CancellationSource;

  CancellationToken token_;
  std::move_only_function<void()> function_;
};

// The side that cancels. Callbacks run inside Cancel(), in the order of their registration; later calls do
// nothing. Destroying the source does not cancel.
class CancellationSource {
 public:
  CancellationSource() : state_(std::make_shared<internal::CancellationState>()) {}
  // Is cancelled with its parent too.
  explicit CancellationSource(CancellationToken parent);

  CancellationToken token() const { return CancellationToken(state_); }
  bool IsCancelled() const { return state_->cancelled; }
  void Cancel() { Cancel(state_); }

 private:
  static void Cancel(std::shared_ptr<internal::CancellationState> state);

  std::shared_ptr<internal::CancellationState> state_;
  std::unique_ptr<CancellationCallback> parent_callback_;
};

}  // namespace berth::base
