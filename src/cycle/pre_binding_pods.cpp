#include "cycle/pre_binding_pods.h"

#include <utility>

#include "base/check.h"

namespace berth::cycle {

PreBindingPods::Entry::Entry(PreBindingPods& pods, std::string_view uid) : pods_(pods), uid_(uid) {
  BERTH_CHECK(pods_.by_uid_.emplace(uid_, this).second);
}

PreBindingPods::Entry::~Entry() {
  pods_.by_uid_.erase(uid_);
  for (const auto& call : at_end_) call();
}

void PreBindingPods::CallAtEnd(std::string_view uid, std::function<void()> call) {
  by_uid_.find(uid)->second->at_end_.push_back(std::move(call));
}

bool PreBindingPods::Cancel(std::string_view uid, std::string_view cause) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return false;
  Entry& entry = *found->second;
  if (!entry.cause_) entry.cause_ = cause;
  entry.source_.Cancel();
  return true;
}

}  // namespace berth::cycle
