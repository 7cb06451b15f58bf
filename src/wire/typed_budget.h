#pragma once

#include <cstddef>

namespace berth::wire {

// An empty message of two bytes becomes a struct of hundreds. Real objects stay far below the factor allowed
// here; an input made of nothing but empty elements is refused before it fills the memory.
class GrowthBudget {
 public:
  explicit GrowthBudget(std::size_t input_size) : left_(kAlways + kFactor * input_size) {}

  // False: one more element of this size would be too much.
  bool Take(std::size_t element_size) {
    if (element_size > left_) return false;
    left_ -= element_size;
    return true;
  }

 private:
  static constexpr std::size_t kAlways = std::size_t{1} << 20;
  static constexpr std::size_t kFactor = 64;

  std::size_t left_;
};

inline constexpr char kGrowthError[] = "too many elements for the size of the input";

}  // namespace berth::wire
