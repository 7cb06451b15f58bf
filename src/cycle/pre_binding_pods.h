#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/cancellation.h"
#include "base/interner.h"

namespace berth::cycle {

// Pods whose PreBind is at work. Until it is done they are bound nowhere, so that giving up one of them costs
// no request.
class PreBindingPods {
 public:
  // One pod for as long as its PreBind runs.
  class Entry {
   public:
    Entry(PreBindingPods& pods, std::string_view uid);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    base::CancellationToken token() const { return source_.token(); }
    // Why it was cancelled, if it was.
    const std::optional<std::string>& cause() const { return cause_; }

   private:
    friend class PreBindingPods;

    PreBindingPods& pods_;
    const std::string uid_;
    base::CancellationSource source_;
    std::optional<std::string> cause_;
    std::vector<std::function<void()>> at_end_;
  };

  // False if the pod is not here. The first cause stays.
  bool Cancel(std::string_view uid, std::string_view cause);
  bool Contains(std::string_view uid) const { return by_uid_.contains(uid); }
  // Calls when the pod, which must be here, is here no longer.
  void CallAtEnd(std::string_view uid, std::function<void()> call);

 private:
  absl::flat_hash_map<std::string, Entry*, base::TextHash, std::equal_to<>> by_uid_;
};

}  // namespace berth::cycle
