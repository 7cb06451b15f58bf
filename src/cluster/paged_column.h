#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace berth::cluster {

// A column of numbers that are mostly zero, indexed by a dense id: pages of it exist once something in them
// was not zero. There is one such column per selector in use and two per resource, and one of them seldom
// concerns more than a few nodes or domains of a large cluster. It takes what its pages take, whatever the
// ids, and a page is a list of numbers only once it has had two of them: many a resource has one node.
template <class IdType, class Number = std::int32_t>
class PagedColumn {
 public:
  // As many as a word of base::Bitset has bits.
  static constexpr std::size_t kPageSize = 64;
  using Numbers = std::array<Number, kPageSize>;

  Number Get(IdType id) const {
    const Entry* const page = Find(id.index() / kPageSize);
    return page == nullptr ? 0 : page->Get(id.index() % kPageSize);
  }

  // The kPageSize numbers of the page; null: all are zero. They are in `room` if they stand nowhere else.
  const Number* Page(std::size_t page, Numbers& room) const {
    const Entry* const found = Find(page);
    if (found == nullptr) return nullptr;
    if (found->numbers) return found->numbers->data();
    room.fill(0);
    room[found->only_offset] = found->only;
    return room.data();
  }

  // Adds and returns the new count.
  Number Add(IdType id, Number delta) {
    Entry& page = PageOf(id.index() / kPageSize);
    Number& number = page.At(id.index() % kPageSize);
    const Number before = number;
    number += delta;
    Count(page, before, number);
    return number;
  }

  // A page that holds nothing any more is let go. Add keeps it: counts come and go with every trial.
  void Set(IdType id, Number number) {
    const Number before = Get(id);
    if (number == before) return;
    Entry& page = PageOf(id.index() / kPageSize);
    page.At(id.index() % kPageSize) = number;
    Count(page, before, number);
    if (page.non_zero > 0) return;
    pages_.erase(pages_.begin() + (&page - pages_.data()));
    if (pages_.empty()) pages_.shrink_to_fit();
  }

  // How many ids have a number other than zero.
  std::size_t non_zero() const { return non_zero_; }

  // Calls visit(id, number) for every number that is not zero, by ascending id.
  template <class F>
  void ForEachNonZero(F&& visit) const {
    for (const Entry& page : pages_) {
      const auto show = [&](std::size_t offset, Number number) {
        if (number != 0) visit(IdType(static_cast<std::uint32_t>(page.index * kPageSize + offset)), number);
      };
      if (page.non_zero == 0) continue;
      if (page.numbers == nullptr) {
        show(page.only_offset, page.only);
        continue;
      }
      for (std::size_t offset = 0; offset < kPageSize; ++offset) show(offset, (*page.numbers)[offset]);
    }
  }

 private:
  struct Entry {
    std::uint32_t index;
    std::uint16_t non_zero = 0;
    std::uint16_t only_offset = 0;
    Number only = 0;                   // the number at only_offset, and all others are zero,
    std::unique_ptr<Numbers> numbers;  // unless there is a list

    Number Get(std::size_t offset) const {
      if (numbers) return (*numbers)[offset];
      return offset == only_offset ? only : 0;
    }

    // A place to write a number to.
    Number& At(std::size_t offset) {
      if (numbers) return (*numbers)[offset];
      if (non_zero == 0) only_offset = static_cast<std::uint16_t>(offset);
      if (offset == only_offset) return only;
      numbers = std::make_unique<Numbers>();
      (*numbers)[only_offset] = only;
      return (*numbers)[offset];
    }
  };

  template <class Pages>
  static auto Position(Pages& pages, std::size_t page) {
    return std::ranges::lower_bound(pages, page, {}, &Entry::index);
  }

  const Entry* Find(std::size_t page) const {
    // A column that concerns most ids has a page in each place.
    if (page < pages_.size() && pages_[page].index == page) return &pages_[page];
    const auto found = Position(pages_, page);
    return found != pages_.end() && found->index == page ? &*found : nullptr;
  }

  Entry& PageOf(std::size_t page) {
    if (page < pages_.size() && pages_[page].index == page) return pages_[page];
    auto found = Position(pages_, page);
    if (found == pages_.end() || found->index != page) {
      found = pages_.insert(found, Entry{.index = static_cast<std::uint32_t>(page), .numbers = nullptr});
    }
    return *found;
  }

  // A number of this page became another one.
  void Count(Entry& page, Number before, Number now) {
    if ((before == 0) == (now == 0)) return;
    page.non_zero = static_cast<std::uint16_t>(now != 0 ? page.non_zero + 1 : page.non_zero - 1);
    now != 0 ? ++non_zero_ : --non_zero_;
  }

  std::vector<Entry> pages_;  // by index
  std::size_t non_zero_ = 0;
};

}  // namespace berth::cluster
