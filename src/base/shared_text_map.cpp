#include "base/shared_text_map.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/check.h"
#include "base/text_hash.h"

namespace berth::base {
namespace {

void AppendSize(std::size_t size, std::string& out) {
  BERTH_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  const auto value = static_cast<std::uint32_t>(size);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::vector<SharedTextMap::Entry> EntriesOf(const FlatMap<std::string, std::string>& map) {
  return {map.begin(), map.end()};
}

// How many entries there are: the sizes take as many bytes as they leave for the text that they tell of.
std::uint32_t CountPacked(std::string_view packed) {
  std::uint32_t count = 0;
  std::size_t told = 0;
  while (count * 2 * sizeof(std::uint32_t) + told < packed.size()) {
    std::uint32_t sizes[2];
    std::memcpy(sizes, packed.data() + count * sizeof(sizes), sizeof(sizes));
    told += std::size_t{sizes[0]} + sizes[1];
    ++count;
  }
  return count;
}

}  // namespace

SharedTextMap::SharedTextMap(const FlatMap<std::string, std::string>& map) {
  std::string packed;
  Pack(EntriesOf(map), packed);
  *this = SharedTextMap(std::string_view(packed));
}

SharedTextMap::SharedTextMap(std::string_view packed) {
  if (packed.empty()) return;
  BERTH_CHECK(packed.size() <= std::numeric_limits<std::uint32_t>::max());
  void* const block = ::operator new(sizeof(Held) + packed.size());
  held_ = new (block) Held{.users = 1,
                           .count = CountPacked(packed),
                           .packed_size = static_cast<std::uint32_t>(packed.size()),
                           .hash = static_cast<std::uint32_t>(HashOf(packed))};
  std::memcpy(static_cast<char*>(block) + sizeof(Held), packed.data(), packed.size());
}

void SharedTextMap::Free() {
  held_->~Held();
  ::operator delete(held_);
}

std::uint32_t SharedTextMap::SizeAt(const char* at) {
  std::uint32_t size;
  std::memcpy(&size, at, sizeof(size));
  return size;
}

std::optional<std::string_view> SharedTextMap::find(std::string_view key) const {
  for (const Entry entry : *this) {
    if (entry.first == key) return entry.second;
  }
  return std::nullopt;
}

FlatMap<std::string, std::string> SharedTextMap::ToMap() const {
  FlatMap<std::string, std::string> map;
  map.reserve(size());
  for (const Entry entry : *this) map.insert_or_assign(std::string(entry.first), std::string(entry.second));
  return map;
}

void SharedTextMap::Pack(std::span<const Entry> entries, std::string& out) {
  for (const Entry& entry : entries) {
    AppendSize(entry.first.size(), out);
    AppendSize(entry.second.size(), out);
  }
  for (const Entry& entry : entries) out.append(entry.first).append(entry.second);
}

std::size_t SharedTextMap::HashOf(std::string_view packed) {
  return static_cast<std::uint32_t>(HashText(packed));
}

SharedTextMap TextMapPool::Intern(std::vector<SharedTextMap::Entry>& entries) {
  if (entries.empty()) return {};
  const auto key = [](const SharedTextMap::Entry& entry) { return entry.first; };
  if (std::ranges::adjacent_find(entries, std::ranges::greater_equal(), key) != entries.end()) {
    std::ranges::stable_sort(entries, {}, key);
    const auto rest = std::ranges::unique(entries.rbegin(), entries.rend(), {}, key);
    entries.erase(entries.begin(), rest.begin().base());
  }
  packed_.clear();
  SharedTextMap::Pack(entries, packed_);
  return maps_.Intern(packed_);
}

SharedTextMap TextMapPool::Intern(const FlatMap<std::string, std::string>& map) {
  entries_.assign(map.begin(), map.end());
  return Intern(entries_);
}

}  // namespace berth::base
