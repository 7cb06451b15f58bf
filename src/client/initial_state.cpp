#include "client/initial_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::client {

void InitialState::Add(Entry entry) {
  is_plain_ = is_plain_ && !entry.is_gone &&
              (entries_.empty() ||
               Identity::ComesBefore(IdentityOf(entries_.back().read.object), IdentityOf(entry.read.object)));
  entries_.push_back(std::move(entry));
}

std::vector<ReadObject> InitialState::Take() {
  std::vector<Entry> entries = std::exchange(entries_, {});
  const auto identity = [](const Entry& entry) { return IdentityOf(entry.read.object); };
  if (!std::exchange(is_plain_, true)) std::ranges::stable_sort(entries, Identity::ComesBefore, identity);
  std::vector<ReadObject> objects;
  objects.reserve(entries.size());
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    // What was said last of a name counts.
    const auto next = std::next(entry);
    const bool is_last = next == entries.end() || Identity::ComesBefore(identity(*entry), identity(*next));
    if (is_last && !entry->is_gone) objects.push_back(std::move(entry->read));
  }
  return objects;
}

}  // namespace berth::client
