#include "cluster/object_table.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "api/storage.h"
#include "cluster/object_store.h"

namespace berth::cluster {
namespace {

using Claims = ObjectTable<api::PersistentVolumeClaim>;

Claims::Ref Claim(std::string namespace_, std::string name, std::string version = "1") {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->metadata.namespace_ = std::move(namespace_);
  claim->metadata.name = std::move(name);
  claim->metadata.resource_version = std::move(version);
  return claim;
}

TEST(ObjectTable, FindsByNamespaceAndName) {
  Claims claims;
  const auto claim = Claim("shop", "data");
  EXPECT_EQ(claims.Set(claim), nullptr);
  EXPECT_EQ(claims.Find("shop", "data"), claim);
  EXPECT_EQ(claims.Find("data", "shop"), nullptr);
  EXPECT_EQ(claims.Find("data"), nullptr);
}

TEST(ObjectTable, AnUpdateReplacesAndHandsBackTheOldOne) {
  Claims claims;
  auto old = Claim("shop", "data", "1");
  claims.Set(old);
  const auto now = Claim("shop", "data", "2");
  EXPECT_EQ(claims.Set(now), old);
  old.reset();  // the key must not refer to the names of an object that is gone
  EXPECT_EQ(claims.Find("shop", "data"), now);
  EXPECT_EQ(claims.size(), 1);
}

TEST(ObjectTable, TellsObserversWhatCameChangedAndWent) {
  Claims claims;
  std::vector<std::string> seen;
  claims.AddObserver([&](const Claims::Ref& before, const Claims::Ref& after) {
    seen.push_back((before ? before->metadata.resource_version : "-") + " " +
                   (after ? after->metadata.resource_version : "-"));
  });
  claims.Set(Claim("shop", "data", "1"));
  claims.Set(Claim("shop", "data", "2"));
  claims.Remove("shop", "other");
  claims.Remove("shop", "data");
  EXPECT_EQ(seen, (std::vector<std::string>{"- 1", "1 2", "2 -"}));
  EXPECT_EQ(claims.version(), 3);
  EXPECT_TRUE(claims.empty());
}

TEST(ObjectTable, VisitsInTheOrderOfNames) {
  Claims claims;
  claims.Set(Claim("b", "a"));
  claims.Set(Claim("a", "c"));
  claims.Set(Claim("a", "b"));
  std::vector<std::string> names;
  claims.ForEach([&](const Claims::Ref& claim) {
    names.push_back(claim->metadata.namespace_ + "/" + claim->metadata.name);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"a/b", "a/c", "b/a"}));
}

TEST(ObjectStore, HasATableForEachKind) {
  ObjectStore store;
  store.Of<api::PersistentVolumeClaim>().Set(Claim("shop", "data"));
  EXPECT_EQ(store.Of<api::PersistentVolumeClaim>().size(), 1);
  EXPECT_TRUE(store.Of<api::PersistentVolume>().empty());
}

}  // namespace
}  // namespace berth::cluster
