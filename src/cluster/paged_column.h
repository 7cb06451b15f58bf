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
// ids.
template <class IdType, class Number = std::int32_t>
class PagedColumn {
 public:
  // As many as a word of base::Bitset has bits.
  static constexpr std::size_t kPageSize = 64;

  Number Get(IdType id) const {
    const Number* const page = Page(id.index() / kPageSize);
    return page == nullptr ? 0 : page[id.index() % kPageSize];
  }

  // The kPageSize numbers of the page; null: all are zero.
  const Number* Page(std::size_t page) const {
    // A column that concerns most ids has a page in each place.
    if (page < pages_.size() && pages_[page].index == page) return pages_[page].numbers->data();
    const auto found = Position(pages_, page);
    return found != pages_.end() && found->index == page ? found->numbers->data() : nullptr;
  }

  // Adds and returns the new count.
  Number Add(IdType id, Number delta) {
    Entry& page = PageOf(id.index() / kPageSize);
    Number& number = (*page.numbers)[id.index() % kPageSize];
    const bool was_zero = number == 0;
    number += delta;
    page.non_zero += static_cast<std::uint32_t>(number != 0) - static_cast<std::uint32_t>(!was_zero);
    non_zero_ += static_cast<std::size_t>(number != 0) - static_cast<std::size_t>(!was_zero);
    return number;
  }

  // A page that holds nothing any more is let go. Add keeps it: counts come and go with every trial.
  void Set(IdType id, Number number) {
    const Number before = Get(id);
    if (number == before) return;
    Entry& page = PageOf(id.index() / kPageSize);
    (*page.numbers)[id.index() % kPageSize] = number;
    page.non_zero += static_cast<std::uint32_t>(number != 0) - static_cast<std::uint32_t>(before != 0);
    non_zero_ += static_cast<std::size_t>(number != 0) - static_cast<std::size_t>(before != 0);
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
      if (page.non_zero == 0) continue;
      for (std::size_t offset = 0; offset < kPageSize; ++offset) {
        const Number number = (*page.numbers)[offset];
        if (number != 0) visit(IdType(static_cast<std::uint32_t>(page.index * kPageSize + offset)), number);
      }
    }
  }

 private:
  struct Entry {
    std::uint32_t index;
    std::uint32_t non_zero;
    std::unique_ptr<std::array<Number, kPageSize>> numbers;
  };

  template <class Pages>
  static auto Position(Pages& pages, std::size_t page) {
    return std::ranges::lower_bound(pages, page, {}, &Entry::index);
  }

  Entry& PageOf(std::size_t page) {
    if (page < pages_.size() && pages_[page].index == page) return pages_[page];
    auto found = Position(pages_, page);
    if (found == pages_.end() || found->index != page) {
      found = pages_.insert(
          found, {static_cast<std::uint32_t>(page), 0, std::make_unique<std::array<Number, kPageSize>>()});
    }
    return *found;
  }

  std::vector<Entry> pages_;  // by index
  std::size_t non_zero_ = 0;
};

}  // namespace berth::cluster
