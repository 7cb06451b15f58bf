#include "base/cancellation.h"

namespace berth::base {

CancellationCallback::CancellationCallback(CancellationToken token, std::move_only_function<void()> function)
    : token_(std::move(token)), function_(std::move(function)) {
  if (token_.state_ == nullptr) return;
  if (token_.state_->cancelled) {
    // Moved out first: the call may destroy *this.
    std::move_only_function<void()> call = std::move(function_);
    call();
  } else {
    token_.state_->callbacks.PushBack(*this);
  }
}

CancellationSource::CancellationSource(CancellationToken parent) : CancellationSource() {
  parent_callback_ =
      std::make_unique<CancellationCallback>(std::move(parent), [state = state_] { Cancel(state); });
}

void CancellationSource::Cancel(std::shared_ptr<internal::CancellationState> state) {
  if (state->cancelled) return;
  state->cancelled = true;
  while (CancellationCallback* callback = state->callbacks.PopFront()) {
    std::move_only_function<void()> call = std::move(callback->function_);
    call();
  }
}

}  // namespace berth::base
