#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace berth::cluster {

// A column of counts that are mostly zero, indexed by a dense id: pages of it exist once something in them
// was not zero. There is one such column per selector in use, and a selector seldom concerns more than a few
// nodes or domains of a large cluster.
template <class IdType>
class PagedColumn {
 public:
  std::int32_t Get(IdType id) const {
    const std::size_t page = id.index() / kPageSize;
    return page < pages_.size() && pages_[page] ? pages_[page]->counts[id.index() % kPageSize] : 0;
  }

  // Adds and returns the new count.
  std::int32_t Add(IdType id, std::int32_t delta) {
    Page& page = PageOf(id);
    std::int32_t& count = page.counts[id.index() % kPageSize];
    const bool was_zero = count == 0;
    count += delta;
    page.non_zero += static_cast<std::uint32_t>(count != 0) - static_cast<std::uint32_t>(!was_zero);
    non_zero_ += static_cast<std::size_t>(count != 0) - static_cast<std::size_t>(!was_zero);
    return count;
  }

  // How many ids have a count other than zero.
  std::size_t non_zero() const { return non_zero_; }

  // Calls visit(id, count) for every count that is not zero, by ascending id.
  template <class F>
  void ForEachNonZero(F&& visit) const {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page] || pages_[page]->non_zero == 0) continue;
      for (std::size_t offset = 0; offset < kPageSize; ++offset) {
        const std::int32_t count = pages_[page]->counts[offset];
        if (count != 0) visit(IdType(static_cast<std::uint32_t>(page * kPageSize + offset)), count);
      }
    }
  }

 private:
  static constexpr std::size_t kPageSize = 256;

  struct Page {
    std::array<std::int32_t, kPageSize> counts{};
    std::uint32_t non_zero = 0;
  };

  Page& PageOf(IdType id) {
    const std::size_t index = id.index() / kPageSize;
    if (index >= pages_.size()) pages_.resize(index + 1);
    if (!pages_[index]) pages_[index] = std::make_unique<Page>();
    return *pages_[index];
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t non_zero_ = 0;
};

}  // namespace berth::cluster
