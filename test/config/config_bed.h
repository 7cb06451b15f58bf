#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "config/compile.h"
#include "config/load.h"
#include "config/validation.h"
#include "framework/features.h"

// A file's way through the room, with kube-scheduler's gates.
namespace berth::config {

inline std::string File(std::string_view body) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + std::string(body);
}

// The lines of one profile.
inline std::string InProfile(std::string_view lines) {
  std::string text = "profiles:\n- schedulerName: default-scheduler\n";
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    text += "  " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return File(text);
}

inline const framework::Features& UpstreamFeatures() {
  static const framework::Features features = framework::Features::Upstream();
  return features;
}

inline std::string LoadError(std::string_view text) {
  const auto loaded = Load(text, UpstreamFeatures());
  return loaded ? "" : loaded.error().message;
}

inline Configuration MustLoad(std::string_view text,
                              const framework::Features& features = UpstreamFeatures()) {
  auto loaded = Load(text, features);
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  return loaded ? *std::move(loaded) : Configuration();
}

inline std::string ValidationError(std::string_view text,
                                   const framework::Features& features = UpstreamFeatures()) {
  return Aggregate(Validate(MustLoad(text, features), features));
}

inline base::Result<Compiled> CompileText(std::string_view text) {
  EXPECT_EQ(ValidationError(text), "");
  return Compile(MustLoad(text), PluginCatalog::InTree(), UpstreamFeatures());
}

// Without the words about the profile.
inline std::string BuildError(std::string_view text) {
  const auto compiled = CompileText(text);
  if (compiled) return "";
  constexpr std::string_view kPrefix =
      "initializing profiles: creating profile for scheduler name default-scheduler: ";
  const std::string& message = compiled.error().message;
  return message.starts_with(kPrefix) ? message.substr(kPrefix.size()) : message;
}

// "A B", or "A=3 B=1" where there are weights.
inline std::string ListAt(const base::Result<Compiled>& compiled, Point point) {
  if (!compiled) return "error: " + compiled.error().message;
  std::string text;
  for (const PluginEntry& entry : compiled->profiles[0].at(point)) {
    if (!text.empty()) text += ' ';
    text += entry.name;
    if (entry.weight != 0) text += "=" + std::to_string(entry.weight);
  }
  return text;
}

}  // namespace berth::config
