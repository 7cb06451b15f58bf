#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fmt/core.h"

#include "base/shared_pool.h"
#include "base/text_hash.h"

namespace berth::base {

// Immutable text that many objects have in common: a pointer, and the text goes with its last user, on
// whatever thread that is. Reads like a const std::string; is changed only as a whole. No text is the empty
// one, and takes no memory.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::string_view text)
      : held_(text.empty() ? nullptr : new Held{1, std::string(text)}) {}
  SharedText(const SharedText& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) held_->users.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  SharedText& operator=(const SharedText& other) noexcept {
    SharedText copy(other);
    std::swap(held_, copy.held_);
    return *this;
  }
  SharedText& operator=(SharedText&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  template <class T>
    requires(std::is_convertible_v<const T&, std::string_view> && !std::is_same_v<T, SharedText>)
  SharedText& operator=(const T& text) {
    return *this = SharedText(std::string_view(text));
  }
  ~SharedText() {
    if (held_ != nullptr && held_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_;
  }

  const std::string& str() const { return held_ == nullptr ? kEmpty : held_->text; }
  operator const std::string&() const { return str(); }
  operator std::string_view() const { return str(); }
  bool empty() const { return held_ == nullptr; }
  std::size_t size() const { return str().size(); }
  // Nobody else can come to have it: then it is told by the only thread that could make a copy.
  bool IsUnshared() const { return held_ != nullptr && held_->users.load(std::memory_order_acquire) == 1; }
  // Texts of one pool that are equal are one; so are copies.
  bool IsSame(const SharedText& other) const { return held_ == other.held_; }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.held_ == b.held_ || a.str() == b.str();
  }
  template <class T>
    requires(std::is_convertible_v<const T&, std::string_view> && !std::is_same_v<T, SharedText>)
  friend bool operator==(const SharedText& a, const T& b) {
    return std::string_view(a.str()) == std::string_view(b);
  }
  template <class H>
  friend H AbslHashValue(H h, const SharedText& text) {
    return H::combine(std::move(h), text.str());
  }

 private:
  struct Held {
    std::atomic<std::uint32_t> users;
    std::string text;
  };
  static inline const std::string kEmpty;

  Held* held_ = nullptr;
};

// Gives equal texts one allocation for as long as somebody uses it. For one thread.
class TextPool {
 public:
  SharedText Intern(std::string_view text) { return text.empty() ? SharedText() : texts_.Intern(text); }
  std::size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return HashText(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };

  SharedPool<SharedText, Hash, Equal> texts_;
};

}  // namespace berth::base

template <>
struct fmt::formatter<berth::base::SharedText> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const berth::base::SharedText& text, Context& context) const {
    return fmt::formatter<std::string_view>::format(text.str(), context);
  }
};
