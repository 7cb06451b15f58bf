#include "wire/byte_cache.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace berth::wire {
namespace {

TEST(ByteCacheTest, WhatComesASecondTimeIsKept) {
  ByteCache<std::string> cache(1024);
  const auto once = std::make_shared<const std::string>("once");
  cache.Put("key", once);
  EXPECT_EQ(cache.Find("key"), nullptr);
  cache.Put("key", once);
  EXPECT_EQ(cache.Find("key"), once);
  EXPECT_EQ(cache.Find("other key"), nullptr);
}

TEST(ByteCacheTest, NothingIsKeptAlive) {
  ByteCache<std::string> cache(1024);
  auto value = std::make_shared<const std::string>("value");
  cache.Put("key", value);
  cache.Put("key", value);
  value.reset();
  EXPECT_EQ(cache.Find("key"), nullptr);
  const auto next = std::make_shared<const std::string>("next");
  cache.Put("key", next);
  EXPECT_EQ(cache.Find("key"), next);
}

TEST(ByteCacheTest, KeysTakeNoMoreThanTheirBound) {
  ByteCache<int> cache(1024);
  const auto value = std::make_shared<const int>(1);
  const auto put_twice = [&](const std::string& key) {
    cache.Put(key, value);
    cache.Put(key, value);
  };
  put_twice(std::string(65, 'x'));  // more than a sixteenth of the bound
  EXPECT_EQ(cache.Find(std::string(65, 'x')), nullptr);
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i) put_twice(std::string(60, 'k') + std::to_string(i));
  for (int i = 0; i < 1000; ++i) kept += cache.Find(std::string(60, 'k') + std::to_string(i)) != nullptr;
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, 1024u / 60);
}

}  // namespace
}  // namespace berth::wire
