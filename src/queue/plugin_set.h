#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace berth::queue {

// A plugin as the queue numbers them, over all profiles: plugins of one name are one plugin.
enum class PluginId : std::uint8_t {};
inline constexpr PluginId kNoPlugin{0xff};
inline constexpr std::size_t kPluginsMax = 128;

// Which plugins rejected a pod, or want to hear of an event.
class PluginSet {
 public:
  static PluginSet All() {
    PluginSet all;
    for (std::uint64_t& word : all.words_) word = ~std::uint64_t{0};
    return all;
  }

  bool empty() const { return (words_[0] | words_[1]) == 0; }
  bool Contains(PluginId plugin) const { return (words_[Word(plugin)] & Bit(plugin)) != 0; }
  void Insert(PluginId plugin) { words_[Word(plugin)] |= Bit(plugin); }
  void Erase(PluginId plugin) { words_[Word(plugin)] &= ~Bit(plugin); }
  bool Intersects(const PluginSet& other) const { return !(*this & other).empty(); }

  // Ascending.
  template <class F>
  void ForEach(F&& visit) const {
    for (std::size_t word = 0; word < 2; ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        visit(static_cast<PluginId>(word * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
      }
    }
  }

  friend PluginSet operator|(const PluginSet& a, const PluginSet& b) {
    return {a.words_[0] | b.words_[0], a.words_[1] | b.words_[1]};
  }
  friend PluginSet operator&(const PluginSet& a, const PluginSet& b) {
    return {a.words_[0] & b.words_[0], a.words_[1] & b.words_[1]};
  }
  friend bool operator==(const PluginSet&, const PluginSet&) = default;
  template <class H>
  friend H AbslHashValue(H state, const PluginSet& set) {
    return H::combine(std::move(state), set.words_[0], set.words_[1]);
  }

  PluginSet() = default;

 private:
  PluginSet(std::uint64_t low, std::uint64_t high) : words_{low, high} {}
  static std::size_t Word(PluginId plugin) { return (static_cast<std::size_t>(plugin) >> 6) & 1; }
  static std::uint64_t Bit(PluginId plugin) {
    return std::uint64_t{1} << (static_cast<std::size_t>(plugin) & 63);
  }

  std::uint64_t words_[2] = {0, 0};
};

}  // namespace berth::queue
