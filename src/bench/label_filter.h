#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

// Which workloads to run: a list such as "performance,-short". `x` and `+x` must be there, `-x` must not. The
// empty filter takes everything.
class LabelFilter {
 public:
  explicit LabelFilter(std::string_view text);

  bool Accepts(const std::vector<std::string>& labels) const;

 private:
  std::vector<std::string> wanted_;
  std::vector<std::string> unwanted_;
};

}  // namespace berth::bench
