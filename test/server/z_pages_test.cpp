#include "server/z_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kObject = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz";

Answer Flagz(std::string_view accept) {
  return FlagzPage(accept, "kube-scheduler", {{"v", "2"}, {"config", ""}});
}

TEST(ZPages, TextForPeople) {  // case 45
  for (const std::string_view accept : {"", "text/plain", "*/*", "application/xml, */*"}) {
    const Answer answer = Flagz(accept);
    EXPECT_EQ(answer.status, 200) << accept;
    EXPECT_THAT(answer.body,
                StartsWith("\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine "
                           "parseable, has no formatting compatibility guarantees and is for debugging "
                           "purposes only.\n"));
    EXPECT_THAT(answer.body, testing::EndsWith("purposes only.\nconfig=\nv=2\n"));
  }
}

TEST(ZPages, ObjectsForPrograms) {  // case 45
  const Answer answer = Flagz(kObject);
  EXPECT_EQ(answer.content_type, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz");
  EXPECT_EQ(answer.body,
            "{\"kind\":\"Flagz\",\"apiVersion\":\"config.k8s.io/"
            "v1beta1\",\"metadata\":{\"name\":\"kube-scheduler\"},"
            "\"flags\":{\"config\":\"\",\"v\":\"2\"}}\n");
  EXPECT_EQ(DeprecationWarning(kObject, "flagz"), "");
  EXPECT_EQ(DeprecationWarning("application/json;v=v1alpha1;g=config.k8s.io;as=Flagz", "flagz"),
            "299 - \"This version of the flagz endpoint is deprecated. Please use a newer version.\"");
}

TEST(ZPages, NothingElse) {  // case 45
  const Answer plain = Flagz("application/json");
  EXPECT_EQ(plain.status, 406);
  EXPECT_EQ(plain.body,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":"
            "\"only the "
            "following media types are accepted: application/json, application/yaml, text/plain\","
            "\"reason\":\"NotAcceptable\",\"code\":406}\n");
  EXPECT_THAT(Flagz("text/html").body, StartsWith("{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n"));
  EXPECT_EQ(Flagz("application/json;v=v1beta1;g=config.k8s.io;as=Statusz").status, 406);
  EXPECT_EQ(Flagz("application/json;v=v9;g=config.k8s.io;as=Flagz").status, 406);
}

TEST(ZPages, StatusOfTheProcess) {
  StatusFacts facts;
  facts.now = facts.started + std::chrono::seconds(5);
  facts.binary_version = "1.37.1";
  const Answer answer = StatuszPage("application/json;v=v1beta1;g=config.k8s.io;as=Statusz", facts);
  EXPECT_THAT(answer.body, HasSubstr("\"uptimeSeconds\":5"));
  EXPECT_THAT(answer.body, HasSubstr("\"startTime\":\"1970-01-01T00:00:00Z\""));
  facts.now = facts.started + std::chrono::hours(27) + std::chrono::seconds(65);
  EXPECT_THAT(StatuszPage("", facts).body,
              HasSubstr("\nStarted: Thu Jan  1 00:00:00 UTC 1970\nUp: 27 hr 01 min 05 sec\n"));
}

}  // namespace
}  // namespace berth::server
