#pragma once

#include <vector>

#include "api/meta.h"

namespace berth::api {

// What a list request answers: PodList is List<Pod>. Items carry no kind of their own.
template <class T>
struct List {
  ListMeta metadata;
  std::vector<T> items;

  bool operator==(const List&) const = default;
};

}  // namespace berth::api
