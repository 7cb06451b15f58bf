#include "sandbox/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "wire/transcode.h"

// Who asked for what, and who is who.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Audited : public testing::Test {
 protected:
  std::shared_ptr<Recorded> Send(std::string method, std::string target, std::string body = "",
                                 net::Headers headers = {}) {
    auto record = std::make_shared<Recorded>();
    net::Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers = std::move(headers);
    request.remote_address = "127.0.0.1:40000";
    ApiServer& api = api_.plane().api();
    api.Handle(request,
               log_.Follow(request, api.UserOf(request), std::make_unique<RecordingExchange>(record)));
    api_.plane().RunDue();
    return record;
  }
  static ControlPlane::Options TwoUsers() {
    ControlPlane::Options options;
    options.api.users.Add("secret", {.name = "scheduler", .uid = "7", .groups = {"system:nodes", "others"}});
    options.api.users.Add("other", {.name = "somebody"});
    return options;
  }
  static net::Headers As(std::string token) {
    net::Headers headers;
    headers.Set("Authorization", "Bearer " + std::move(token));
    return headers;
  }

  std::vector<json::object> lines_;
  base::VirtualClock clock_{base::TimePoint(std::chrono::hours(1)),
                            base::WallPoint(std::chrono::seconds(ApiHarness::kStartSeconds))};
  AuditLog log_{clock_, 1, [this](std::string_view line) { lines_.push_back(Parse(line)); }};
  ApiHarness api_{TwoUsers()};
};

TEST_F(Audited, AWriteIsNotedWithItsUserItsObjectAndItsOutcome) {
  net::Headers headers = As("secret");
  headers.Set("User-Agent", "berth/1");
  Send("POST", kPods, PodJson("p"), headers);
  ASSERT_THAT(lines_, SizeIs(1));
  const json::object& event = lines_[0];
  EXPECT_EQ(TextAt(event, {"apiVersion"}), "audit.k8s.io/v1");
  EXPECT_EQ(TextAt(event, {"stage"}), "ResponseComplete");
  EXPECT_EQ(TextAt(event, {"verb"}), "create");
  EXPECT_EQ(TextAt(event, {"requestURI"}), kPods);
  EXPECT_EQ(TextAt(event, {"user", "username"}), "scheduler");
  EXPECT_EQ(*FindArray(event, {"user", "groups"}), json::array({"system:nodes", "others"}));
  EXPECT_EQ(*FindArray(event, {"sourceIPs"}), json::array({"127.0.0.1"}));
  EXPECT_EQ(TextAt(event, {"userAgent"}), "berth/1");
  EXPECT_EQ(*FindObject(event, {"objectRef"}),
            Parse(R"({"resource":"pods","namespace":"default","name":"p","apiVersion":"v1"})"));
  EXPECT_EQ(NumberAt(event, {"responseStatus", "code"}), 201);
  EXPECT_EQ(TextAt(event, {"requestReceivedTimestamp"}), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(TextAt(event, {"requestObject", "metadata", "name"}), "p");
}

TEST_F(Audited, BodiesAreReadInEveryEncoding) {
  Send("POST", kPods, PodJson("p"), As("secret"));
  net::Headers protobuf = As("secret");
  protobuf.Set("Content-Type", "application/vnd.kubernetes.protobuf");
  Send("POST", PodPath("p") + "/binding", *wire::DocumentToEnvelope(Parse(BindingJson("p", "n"))), protobuf);
  net::Headers yaml = As("secret");
  yaml.Set("Content-Type", "application/apply-patch+yaml");
  Send("PATCH", PodPath("p") + "?fieldManager=me", "{apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}}",
       yaml);
  Send("POST", kPods, "{", As("secret"));
  ASSERT_THAT(lines_, SizeIs(4));
  EXPECT_EQ(TextAt(lines_[1], {"requestObject", "target", "name"}), "n");
  EXPECT_EQ(TextAt(lines_[1], {"objectRef", "subresource"}), "binding");
  EXPECT_EQ(TextAt(lines_[2], {"requestObject", "metadata", "labels", "a"}), "b");
  EXPECT_EQ(NumberAt(lines_[3], {"responseStatus", "code"}), 400);
  EXPECT_FALSE(lines_[3].contains("requestObject"));
}

TEST_F(Audited, RefusedAndOtherRequestsAreNotedToo) {
  Send("GET", kPods, "", As("wrong"));
  Send("GET", "/version");
  Send("DELETE", "/apis/apps/v1/namespaces/default/deployments?labelSelector=a", "", As("other"));
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_EQ(NumberAt(lines_[0], {"responseStatus", "code"}), 401);
  EXPECT_EQ(TextAt(lines_[0], {"user", "username"}), "");
  EXPECT_EQ(TextAt(lines_[1], {"user", "username"}), "system:anonymous");
  EXPECT_FALSE(lines_[1].contains("objectRef"));
  EXPECT_EQ(TextAt(lines_[2], {"verb"}), "deletecollection");
  EXPECT_EQ(TextAt(lines_[2], {"objectRef", "apiGroup"}), "apps");
}

TEST_F(Audited, AWatchHasALineWhenItBeginsAndOneWhenItEnds) {
  const auto watch = Send("GET", std::string(kPods) + "?watch=true&timeoutSeconds=5", "", As("secret"));
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_EQ(TextAt(lines_[0], {"stage"}), "ResponseStarted");
  api_.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(watch->finished);
  ASSERT_THAT(lines_, SizeIs(2));
  EXPECT_EQ(TextAt(lines_[1], {"stage"}), "ResponseComplete");
  EXPECT_EQ(TextAt(lines_[1], {"auditID"}), TextAt(lines_[0], {"auditID"}));
}

TEST_F(Audited, ReviewsNameWhoAsks) {
  const auto who =
      Send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
           R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})", As("other"));
  EXPECT_EQ(TextAt(Parse(who->bytes), {"status", "userInfo", "username"}), "somebody");
  const auto token =
      Send("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
           R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"secret"}})",
           As("other"));
  EXPECT_EQ(TextAt(Parse(token->bytes), {"status", "user", "username"}), "scheduler");
}

TEST(TokenFile, NamesUsersAsKubeApiserverReadsThem) {
  Users users;
  ASSERT_TRUE(users.AddFile("t1,alice,1\n\nt2,bob,2,\"a,b\"\r\nt3,\"c,\"\"d\",3,a").has_value());
  EXPECT_EQ(users.Find("t1")->name, "alice");
  EXPECT_THAT(users.Find("t1")->groups, IsEmpty());
  EXPECT_THAT(users.Find("t2")->groups, ElementsAre("a", "b"));
  EXPECT_EQ(users.Find("t3")->name, "c,\"d");
  EXPECT_EQ(users.Find("t"), nullptr);
}

TEST(TokenFile, ErrorsNameTheLine) {
  Users users;
  EXPECT_EQ(users.AddFile("t1,alice,1\nt2,bob\n").error().message,
            "line 2: want at least three columns (token, user name, user uid)");
  EXPECT_EQ(users.AddFile(",alice,1").error().message,
            "line 1: want at least three columns (token, user name, user uid)");
  EXPECT_EQ(users.AddFile("t1,\"alice,1").error().message, "line 1: a quote has no end");
}

}  // namespace
}  // namespace berth::sandbox::test
