#include "config/tracing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace berth::config {
namespace {

std::string TracingFile(std::string_view body) {
  return "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n" + std::string(body);
}

std::string ErrorOf(std::string_view text) {
  const auto tracing = DecodeTracing(text);
  return tracing ? "" : tracing.error().message;
}

TEST(TracingFile, HasDefaults) {
  const auto tracing = DecodeTracing(TracingFile(""));
  ASSERT_TRUE(tracing) << tracing.error().message;
  EXPECT_EQ(*tracing, (Tracing{.endpoint = "localhost:4318", .sampling_rate_per_million = 0}));
}

TEST(TracingFile, IsRead) {
  const auto tracing =
      DecodeTracing(TracingFile("endpoint: https://collector:4318/in\nsamplingRatePerMillion: 100\n"));
  ASSERT_TRUE(tracing) << tracing.error().message;
  EXPECT_EQ(*tracing, (Tracing{.endpoint = "https://collector:4318/in", .sampling_rate_per_million = 100}));
}

TEST(TracingFile, MistakesHaveNames) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "Object 'Kind' is missing in ''"},
      {"kind: TracingConfiguration\n", "Object 'apiVersion' is missing in 'kind: TracingConfiguration\n'"},
      {"apiVersion: v1\nkind: Pod\n", "no kind \"Pod\" is registered for version \"v1\""},
      {TracingFile("samplingRatePerMillion: -1\n"),
       "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"},
      {TracingFile("samplingRatePerMillion: 1000001\n"),
       "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal "
       "to one million"},
      {TracingFile("samplingRatePerMillion: many\n"), "samplingRatePerMillion: a whole number is needed"},
      {TracingFile("endpoint: 4\n"), "endpoint: a string is needed"},
      {TracingFile("endpoint: unix:///x\n"),
       "endpoint: Invalid value: \"unix:///x\": unsupported scheme: unix. Options are none, http, or https"},
      {TracingFile("a: 1\nb: 2\n"), "strict decoding error: unknown field \"a\", unknown field \"b\""},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error);
  EXPECT_NE(ErrorOf(TracingFile("endpoint: a\nendpoint: b\n")), "");
  EXPECT_NE(ErrorOf("{"), "");
}

}  // namespace
}  // namespace berth::config
