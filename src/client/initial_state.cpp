#include "client/initial_state.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace berth::client {

void InitialState::Add(ReadObject object, bool is_gone) {
  is_plain_ = is_plain_ && !is_gone &&
              (objects_.empty() ||
               Identity::ComesBefore(IdentityOf(objects_.back().object), IdentityOf(object.object)));
  objects_.push_back(std::move(object));
  is_gone_.push_back(is_gone);
}

std::vector<ReadObject> InitialState::Take() {
  std::vector<ReadObject> told = std::exchange(objects_, {});
  const std::vector<bool> is_gone = std::exchange(is_gone_, {});
  if (std::exchange(is_plain_, true)) return told;
  std::vector<std::size_t> order(told.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto identity = [&](std::size_t i) { return IdentityOf(told[i].object); };
  std::ranges::stable_sort(order, Identity::ComesBefore, identity);
  std::vector<ReadObject> objects;
  for (auto at = order.begin(); at != order.end(); ++at) {
    // What was said last of a name counts.
    const auto next = std::next(at);
    const bool is_last = next == order.end() || Identity::ComesBefore(identity(*at), identity(*next));
    if (is_last && !is_gone[*at]) objects.push_back(std::move(told[*at]));
  }
  return objects;
}

}  // namespace berth::client
