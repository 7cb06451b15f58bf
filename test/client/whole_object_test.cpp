#include "client/whole_object.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "api/list.h"
#include "api/node.h"
#include "wire/codec.h"

namespace berth::client {
namespace {

api::Node NodeNamed(std::string name) {
  api::Node node;
  node.metadata.name = std::move(name);
  return node;
}

Shared<api::Node> NodeOf(const ReadObject& read) { return std::get<Shared<api::Node>>(read.object); }

class WholeObjectTest : public testing::Test {
 protected:
  std::unique_ptr<ObjectReader> Reader() {
    return MakeWholeReader(MakeObjectReader(Resource::kNodes, shared_));
  }
  api::SharedParts shared_;
};

TEST_F(WholeObjectTest, AnObjectHasTheBytesThatItWasReadFrom) {
  const std::string bytes = wire::EncodeProtobuf(NodeNamed("n1"));
  const auto read = Reader()->Read(Encoding::kProtobuf, bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(NodeOf(*read)->metadata.name, "n1");
  const WholeBytes* const whole = WholeOf(NodeOf(*read));
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->bytes, bytes);
}

TEST_F(WholeObjectTest, CopiesOfThePointerHaveThemAndOutliveTheReader) {
  Shared<api::Node> copy;
  {
    auto reader = Reader();
    copy = NodeOf(*reader->Read(Encoding::kJson, R"({"metadata":{"name":"n1"},"extra":1})"));
  }
  ASSERT_NE(WholeOf(copy), nullptr);
  EXPECT_EQ(WholeOf(copy)->bytes, R"({"metadata":{"name":"n1"},"extra":1})");
  EXPECT_EQ(WholeOf(copy)->encoding, Encoding::kJson);
}

TEST_F(WholeObjectTest, EveryItemOfAListHasItsOwn) {
  api::List<api::Node> list;
  list.metadata.resource_version = "7";
  list.items.push_back(NodeNamed("n1"));
  list.items.push_back(NodeNamed("n2"));
  for (const Encoding encoding : {Encoding::kProtobuf, Encoding::kJson}) {
    const std::string bytes =
        encoding == Encoding::kProtobuf ? wire::EncodeProtobuf(list) : wire::EncodeJson(list);
    std::vector<Shared<api::Node>> nodes;
    const auto meta =
        Reader()->ReadList(encoding, bytes, [&](ReadObject&& item) { nodes.push_back(NodeOf(item)); });
    ASSERT_TRUE(meta.has_value());
    EXPECT_EQ(meta->resource_version, "7");
    ASSERT_EQ(nodes.size(), 2);
    EXPECT_EQ(nodes[1]->metadata.name, "n2");
    ASSERT_NE(WholeOf(nodes[1]), nullptr);
    EXPECT_NE(WholeOf(nodes[1])->bytes.find("n2"), std::string::npos);
    EXPECT_EQ(WholeOf(nodes[1])->bytes.find("n1"), std::string::npos);
  }
}

TEST_F(WholeObjectTest, OrdinaryObjectsHaveNone) {
  const auto plain = MakeObjectReader(Resource::kNodes, shared_);
  const auto read = plain->Read(Encoding::kProtobuf, wire::EncodeProtobuf(NodeNamed("n1")));
  EXPECT_EQ(WholeOf(NodeOf(*read)), nullptr);
}

TEST_F(WholeObjectTest, BrokenBytesAreAnError) {
  EXPECT_FALSE(Reader()->Read(Encoding::kProtobuf, "\x0a\xff").has_value());
  EXPECT_FALSE(Reader()->ReadList(Encoding::kProtobuf, "\x12\xff", [](ReadObject&&) {}).has_value());
  EXPECT_FALSE(Reader()->ReadList(Encoding::kJson, "[", [](ReadObject&&) {}).has_value());
}

}  // namespace
}  // namespace berth::client
