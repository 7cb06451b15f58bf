// Traces on their way to a collector.

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "net/harness.h"
#include "net/http_server.h"
#include "server/otlp.h"
#include "server/trace_exporter.h"
#include "support/builders.h"

namespace berth::server {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

cycle::AttemptTrace Attempt(const std::string& name) {
  cycle::AttemptTrace trace;
  trace.pod = berth::test::MakePod(name).Uid("u-" + name).Record();
  trace.profile = "default-scheduler";
  trace.attempt = 2;
  trace.node = "n1";
  trace.result = "scheduled";
  trace.begin = base::TimePoint(5ns);
  trace.end = base::TimePoint(105ns);
  trace.spans = {{"Filter", base::TimePoint(10ns), base::TimePoint(20ns), "Success"},
                 {"Bind", base::TimePoint(30ns), base::TimePoint(100ns), "Error"}};
  return trace;
}

TEST(Otlp, ATraceForEachAttemptWithItsPointsBelow) {
  base::Random random(1);
  const std::vector<cycle::AttemptTrace> traces = {Attempt("a"), Attempt("b")};
  const json::value document = json::parse(WriteOtlp(traces, {.version = "v"}, 1000ns, random));
  const json::array& spans = document.at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array();
  ASSERT_EQ(spans.size(), 6u);
  const json::object& root = spans[0].as_object();
  EXPECT_EQ(root.at("name"), "SchedulingAttempt");
  EXPECT_EQ(root.at("startTimeUnixNano"), "1005");
  EXPECT_EQ(root.at("endTimeUnixNano"), "1105");
  EXPECT_EQ(root.at("traceId").as_string().size(), 32u);
  EXPECT_EQ(root.at("spanId").as_string().size(), 16u);
  EXPECT_FALSE(root.contains("parentSpanId"));
  EXPECT_FALSE(root.contains("status"));
  EXPECT_EQ(spans[1].at("parentSpanId"), root.at("spanId"));
  EXPECT_EQ(spans[1].at("traceId"), root.at("traceId"));
  EXPECT_EQ(spans[1].at("name"), "Filter");
  EXPECT_EQ(spans[2].at_pointer("/status/code"), 2);
  EXPECT_NE(spans[3].at("traceId"), root.at("traceId"));
  EXPECT_THAT(json::serialize(root.at("attributes")),
              HasSubstr("{\"key\":\"k8s.pod.uid\",\"value\":{\"stringValue\":\"u-a\"}}"));
  EXPECT_EQ(document.at_pointer("/resourceSpans/0/resource/attributes/0/value/stringValue"),
            "kube-scheduler");
}

TEST(Otlp, AFailedAttemptSaysWhy) {
  base::Random random(1);
  cycle::AttemptTrace trace = Attempt("a");
  trace.node.clear();
  trace.result = "unschedulable";
  trace.message = "0/1 nodes are available";
  const json::value document = json::parse(WriteOtlp(std::vector{trace}, {}, 0ns, random));
  const json::value& root = document.at_pointer("/resourceSpans/0/scopeSpans/0/spans/0");
  EXPECT_EQ(root.at_pointer("/status/code"), 2);
  EXPECT_EQ(root.at_pointer("/status/message"), "0/1 nodes are available");
  EXPECT_EQ(json::serialize(root.at("attributes")).find("k8s.node.name"), std::string::npos);
}

class ExporterTest : public net::NetTest {
 protected:
  void Listen(int status) {
    auto made =
        net::HttpServer::Listen(loop_, {}, [this, status](net::Request request, net::Responder responder) {
          requests.push_back(std::move(request));
          responder.Send(status, {}, net::MakeBody("{}"));
        });
    ASSERT_TRUE(made.has_value());
    collector = *std::move(made);
  }
  std::unique_ptr<TraceExporter> Make(TraceExporterOptions options) {
    options.endpoint = "127.0.0.1:" + std::to_string(collector->port());
    auto made = TraceExporter::Make(loop_, std::move(options), metrics);
    EXPECT_TRUE(made.has_value());
    return *std::move(made);
  }
  static std::vector<cycle::AttemptTrace> Attempts(std::size_t count) {
    std::vector<cycle::AttemptTrace> traces;
    for (std::size_t i = 0; i < count; ++i) traces.push_back(Attempt("p" + std::to_string(i)));
    return traces;
  }

  base::MetricRegistry metrics;
  std::vector<net::Request> requests;
  std::unique_ptr<net::HttpServer> collector;
};

TEST_F(ExporterTest, SendsBatchesOneAfterTheOther) {
  Listen(200);
  const auto exporter = Make({.endpoint = {}, .resource = {}, .batch_max = 2, .interval = 1ms});
  exporter->Add(Attempts(5));
  ASSERT_TRUE(RunUntil(
      [&] { return metrics.Text().find("berth_traces_total{result=\"sent\"} 5\n") != std::string::npos; }));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].target, "/v1/traces");
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(*requests[0].headers.Find("Content-Type"), "application/json");
  EXPECT_THAT(requests[0].body, HasSubstr("\"u-p1\""));
  EXPECT_THAT(requests[2].body, HasSubstr("\"u-p4\""));
}

TEST_F(ExporterTest, KeepsABoundedNumberAndDropsTheRest) {
  Listen(200);
  const auto exporter =
      Make({.endpoint = {}, .resource = {}, .kept_max = 3, .batch_max = 100, .interval = 1h});
  exporter->Add(Attempts(5));
  exporter->Add(Attempts(1));
  EXPECT_EQ(exporter->kept(), 3u);
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_traces_total{result=\"dropped\"} 3\n"));
}

TEST_F(ExporterTest, ACollectorThatRefusesCostsTheTracesAndNothingElse) {
  Listen(503);
  const auto exporter = Make({.endpoint = {}, .resource = {}, .batch_max = 1, .interval = 1ms});
  exporter->Add(Attempts(2));
  ASSERT_TRUE(RunUntil(
      [&] { return metrics.Text().find("berth_traces_total{result=\"failed\"} 2\n") != std::string::npos; }));
  EXPECT_EQ(exporter->kept(), 0u);
}

TEST(Exporter, RefusesAnEndpointThatIsNone) {
  net::EventLoop loop;
  base::MetricRegistry metrics;
  EXPECT_FALSE(TraceExporter::Make(loop, {.endpoint = "ftp://x", .resource = {}}, metrics));
}

}  // namespace
}  // namespace berth::server
