#include "plugins/priority_sort.h"

namespace berth::plugins {

bool PrioritySort::Less(const framework::QueueOrderKey& a, const framework::QueueOrderKey& b) const {
  if (a.priority != b.priority) return a.priority > b.priority;
  return a.timestamp < b.timestamp;
}

}  // namespace berth::plugins
