#pragma once

#include <memory>
#include <utility>

namespace berth::base {

// A value that many objects may have in common: a pointer to it, or none for T(). Reads like a pointer to a
// const T that is never null. Copies share until one of them is changed.
template <class T>
class SharedValue {
 public:
  using value_type = T;

  SharedValue() = default;
  SharedValue(T value) : held_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return held_ == nullptr ? kNothing : *held_; }
  const T* operator->() const { return &**this; }

  // To be changed; what others have stays as it is.
  T& Edit() {
    if (held_ == nullptr) {
      held_ = std::make_shared<T>();
    } else if (held_.use_count() != 1) {
      held_ = std::make_shared<T>(*held_);
    }
    return *held_;
  }

  // Nobody else can come to have it: then it is told by the only thread that could make a copy.
  bool IsUnshared() const { return held_.use_count() == 1; }
  bool IsSame(const SharedValue& other) const { return held_ == other.held_; }
  bool operator==(const SharedValue& other) const { return IsSame(other) || **this == *other; }

 private:
  static inline const T kNothing{};

  std::shared_ptr<T> held_;
};

}  // namespace berth::base
