#include "wire/byte_cache.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace berth::wire {
namespace {

// As often as a key has to come to be kept.
template <class T>
void PutOften(ByteCache<T>& cache, const std::string& key, const std::shared_ptr<const T>& value) {
  for (int i = 0; i < 4; ++i) cache.Put(key, value);
}

TEST(ByteCacheTest, WhatComesOftenIsKept) {
  ByteCache<std::string> cache(1024);
  const auto value = std::make_shared<const std::string>("value");
  for (int i = 0; i < 3; ++i) cache.Put("key", value);
  EXPECT_EQ(cache.Find("key"), nullptr);
  cache.Put("key", value);
  EXPECT_EQ(cache.Find("key"), value);
  EXPECT_EQ(cache.Find("other key"), nullptr);
}

TEST(ByteCacheTest, NothingIsKeptAlive) {
  ByteCache<std::string> cache(1024);
  auto value = std::make_shared<const std::string>("value");
  PutOften(cache, "key", value);
  value.reset();
  EXPECT_EQ(cache.Find("key"), nullptr);
  const auto next = std::make_shared<const std::string>("next");
  cache.Put("key", next);
  EXPECT_EQ(cache.Find("key"), next);
}

TEST(ByteCacheTest, KeysTakeNoMoreThanTheirBound) {
  ByteCache<int> cache(1024);
  const auto value = std::make_shared<const int>(1);
  PutOften(cache, std::string(65, 'x'), value);  // more than a sixteenth of the bound
  EXPECT_EQ(cache.Find(std::string(65, 'x')), nullptr);
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i) PutOften(cache, std::string(60, 'k') + std::to_string(i), value);
  for (int i = 0; i < 1000; ++i) kept += cache.Find(std::string(60, 'k') + std::to_string(i)) != nullptr;
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, 1024u / 60);
}

}  // namespace
}  // namespace berth::wire
