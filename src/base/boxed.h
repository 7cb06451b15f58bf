#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

namespace berth::base {

// An optional value in a place of its own: eight bytes where it is absent, whatever its size. For members of
// structs of which there are many, where most have one of several such members or none. Copies are deep.
template <class T>
class Boxed {
 public:
  using value_type = T;

  Boxed() = default;
  Boxed(std::nullopt_t) {}
  Boxed(T value) : held_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    Boxed copy(other);
    held_.swap(copy.held_);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  Boxed& operator=(T value) {
    held_ = std::make_unique<T>(std::move(value));
    return *this;
  }
  ~Boxed() = default;

  bool has_value() const { return held_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *held_; }
  T& operator*() { return *held_; }
  const T* operator->() const { return held_.get(); }
  T* operator->() { return held_.get(); }
  T& emplace() { return *(held_ = std::make_unique<T>()); }
  void reset() { held_.reset(); }

  bool operator==(const Boxed& other) const {
    if (!held_ || !other.held_) return held_ == other.held_;
    return *held_ == *other.held_;
  }
  // An absent value equals none.
  template <class U>
    requires(!std::same_as<U, Boxed>)
  bool operator==(const U& value) const {
    return held_ && *held_ == value;
  }

 private:
  std::unique_ptr<T> held_;
};

}  // namespace berth::base
