#include "base/hash_index.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "base/chunked_vector.h"
#include "base/ids.h"
#include "base/random.h"

namespace berth::base {
namespace {

using ThingId = Id<struct ThingTag>;

// Things are known by a number; equal hashes are frequent.
class Things {
 public:
  explicit Things(std::uint64_t hash_count) : hash_count_(hash_count) {}
  void Add(std::uint32_t id, std::uint64_t key) {
    keys_[id] = key;
    index_.Insert(Hash(key), ThingId(id));
  }
  void Remove(std::uint32_t id) {
    index_.Erase(Hash(keys_.at(id)), ThingId(id));
    keys_.erase(id);
  }
  ThingId Find(std::uint64_t key) const {
    return index_.Find(Hash(key), [&](ThingId id) { return keys_.at(id.value()) == key; });
  }
  const std::map<std::uint32_t, std::uint64_t>& keys() const { return keys_; }
  const HashIndex<ThingId>& index() const { return index_; }

 private:
  std::size_t Hash(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15u % hash_count_; }

  std::uint64_t hash_count_;
  std::map<std::uint32_t, std::uint64_t> keys_;
  HashIndex<ThingId> index_;
};

TEST(HashIndexTest, IsEmptyAtFirst) {
  const HashIndex<ThingId> index;
  EXPECT_TRUE(index.empty());
  EXPECT_FALSE(index.Find(7, [](ThingId) { return true; }).IsValid());
}

TEST(HashIndexTest, FindsWhatIsThereAndNothingElseWhateverTheHashes) {
  for (const std::uint64_t hash_count : {1u, 5u, 64u, 1'000'003u}) {
    Things things(hash_count);
    Random random(hash_count);
    std::uint32_t next = 0;
    for (int step = 0; step < 3'000; ++step) {
      if (things.keys().empty() || random.Uniform(5) < 3) {
        things.Add(next, next * 3);
        ++next;
      } else {
        auto at = things.keys().lower_bound(static_cast<std::uint32_t>(random.Uniform(next)));
        if (at == things.keys().end()) at = things.keys().begin();
        things.Remove(at->first);
      }
      const std::uint64_t asked = random.Uniform(next) * 3;
      const bool is_there = things.keys().contains(static_cast<std::uint32_t>(asked / 3));
      ASSERT_EQ(things.Find(asked).IsValid(), is_there);
      ASSERT_FALSE(things.Find(asked + 1).IsValid());
    }
    ASSERT_EQ(things.index().size(), things.keys().size());
    for (const auto& [id, key] : things.keys()) ASSERT_EQ(things.Find(key), ThingId(id));
  }
}

TEST(HashIndexTest, AssignTakesThePlaceOfTheOneThatIsMeant) {
  HashIndex<ThingId> index;
  index.Assign(3, ThingId(1), [](ThingId) { return true; });
  index.Assign(3, ThingId(2), [](ThingId id) { return id == ThingId(1); });
  EXPECT_EQ(index.size(), 1U);
  EXPECT_EQ(index.Find(3, [](ThingId) { return true; }), ThingId(2));
}

TEST(ChunkedVectorTest, ReferencesStayValidWhileItGrows) {
  ChunkedVector<std::string> texts;
  std::vector<const std::string*> addresses;
  for (std::size_t i = 0; i < 3 * ChunkedVector<std::string>::kChunk; ++i) {
    texts.Grow() = std::to_string(i);
    addresses.push_back(&texts[i]);
  }
  ASSERT_EQ(texts.size(), addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    EXPECT_EQ(&texts[i], addresses[i]);
    EXPECT_EQ(texts[i], std::to_string(i));
  }
}

}  // namespace
}  // namespace berth::base
