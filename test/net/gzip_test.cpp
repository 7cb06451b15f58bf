#include "net/gzip.h"

#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::net {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 24;

RC_GTEST_PROP(Gzip, IsUndoneByGunzip, (const std::string& any)) {
  RC_ASSERT(*Gunzip(Gzip(any), kPlenty) == any);
}

TEST(AcceptsGzip, LooksAtTheWeight) {
  const auto accepts = [](std::string value) {
    return AcceptsGzip({{.name = "Accept-Encoding", .value = std::move(value)}});
  };
  for (const char* yes : {"gzip", "deflate, gzip;q=0.5", "GZIP ; q=1", "*", "*;q=0, gzip"})
    EXPECT_TRUE(accepts(yes)) << yes;
  for (const char* no :
       {"", "identity", "gzip;q=0", "gzip; q=0.000, deflate", "*;q=0", "*, gzip;q=0", "gzipped"}) {
    EXPECT_FALSE(accepts(no)) << no;
  }
  EXPECT_FALSE(AcceptsGzip({}));
}

TEST(Gzip, ShrinksALongListAndBringsItBack) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{\"kind\":\"Pod\"},";
  const std::string packed = Gzip(text);
  EXPECT_LT(packed.size(), text.size() / 20);
  EXPECT_EQ(*Gunzip(packed, kPlenty), text);
}

TEST(Gunzip, RefusesTornDataAtEveryByteAndTrailingBytes) {
  const std::string packed = Gzip("a text that is long enough to be torn");
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(Gunzip(packed.substr(0, size), kPlenty));
  EXPECT_FALSE(Gunzip(packed + "x", kPlenty));
}

TEST(Gunzip, RefusesTextBeyondTheLimit) {
  const std::string packed = Gzip(std::string(1000, 'x'));
  EXPECT_TRUE(Gunzip(packed, 1000));
  EXPECT_FALSE(Gunzip(packed, 999));
}

}  // namespace
}  // namespace berth::net
