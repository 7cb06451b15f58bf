#pragma once

#include <string>
#include <string_view>

#include "base/flat_map.h"

namespace berth::framework {

// Fragments by key. Several plugins may add one key: the value must then be the same, and counts once. Only
// equality matters, so a value is whatever bytes tell two pods apart.
class Signature {
 public:
  void Add(std::string_view key, std::string value) {
    fragments_.insert_or_assign(std::string(key), std::move(value));
  }
  const base::FlatMap<std::string, std::string>& fragments() const { return fragments_; }

  bool operator==(const Signature&) const = default;

 private:
  base::FlatMap<std::string, std::string> fragments_;
};

}  // namespace berth::framework
