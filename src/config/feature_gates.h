#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/gate_table.h"
#include "framework/features.h"

namespace berth::config {

// A release, as "1.37".
struct MinorVersion {
  int major = 1;
  int minor = 37;

  std::string ToString() const;
  auto operator<=>(const MinorVersion&) const = default;
};

// What --emulated-version and --min-compatibility-version ask for.
struct VersionWishes {
  std::vector<std::string> emulated;           // values of the flag
  std::vector<std::string> min_compatibility;  // values of the flag
};

struct Versions {
  MinorVersion emulation;
  MinorVersion min_compatibility{1, 36};
};

// "1.36", "kube=1.36". Errors in kube-scheduler's words.
base::Result<Versions> ResolveVersions(const VersionWishes& wishes);

// The state of every gate that Kubernetes has.
class FeatureGates {
 public:
  explicit FeatureGates(Versions versions = {}) : versions_(versions) {}

  // `values` are those of --feature-gates, in order: "[component:]Name=bool,...". What one says about a gate,
  // a later one may change; what is said counts whatever AllAlpha and AllBeta say.
  base::Result<void> Set(std::span<const std::string> values);

  bool IsEnabled(std::string_view name) const;
  // Whether somebody asked for it, and so may want to know that it will be gone.
  const std::map<std::string, bool, std::less<>>& set_by_user() const { return set_; }
  framework::Features ToFeatures() const;
  const Versions& versions() const { return versions_; }

 private:
  base::Result<void> SetOne(const std::string& name, bool enabled);
  bool DefaultOf(const Gate& gate) const;
  base::Result<void> CheckNeeds() const;

  Versions versions_;
  std::map<std::string, bool, std::less<>> set_;
};

}  // namespace berth::config
