#pragma once

namespace berth::base {

// What an object needs to be in one IntrusiveList at a time. It leaves the list when it is destroyed.
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  ~ListHook() { Unlink(); }

  bool IsLinked() const { return next_ != this; }

  void Unlink() {
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = this;
  }

 private:
  template <class T>
  friend class IntrusiveList;

  void LinkBefore(ListHook& next) {
    prev_ = next.prev_;
    next_ = &next;
    prev_->next_ = this;
    next_->prev_ = this;
  }

  ListHook* prev_ = this;
  ListHook* next_ = this;
};

// A first-in-first-out list of objects that live elsewhere: no allocation, and removal from the middle is
// O(1). T derives from ListHook. The list owns nothing; destroying it leaves its objects in no list.
template <class T>
class IntrusiveList {
 public:
  IntrusiveList() = default;
  ~IntrusiveList() {
    while (PopFront() != nullptr) {
    }
  }

  bool empty() const { return !head_.IsLinked(); }

  // Leaves the list that it was in, if any.
  void PushBack(T& object) {
    ListHook& hook = object;
    hook.Unlink();
    hook.LinkBefore(head_);
  }

  T* Front() { return empty() ? nullptr : static_cast<T*>(head_.next_); }
  T* Back() { return empty() ? nullptr : static_cast<T*>(head_.prev_); }

  T* PopFront() {
    T* front = Front();
    if (front != nullptr) static_cast<ListHook*>(front)->Unlink();
    return front;
  }

  // Moves everything in `other` behind what is here, in O(1).
  void Append(IntrusiveList& other) {
    if (other.empty()) return;
    ListHook* first = other.head_.next_;
    ListHook* last = other.head_.prev_;
    other.head_.prev_ = other.head_.next_ = &other.head_;
    first->prev_ = head_.prev_;
    head_.prev_->next_ = first;
    last->next_ = &head_;
    head_.prev_ = last;
  }

 private:
  ListHook head_;
};

}  // namespace berth::base
