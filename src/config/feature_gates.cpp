#include "config/feature_gates.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "api/validation.h"
#include "base/go_text.h"

namespace berth::config {
namespace {

constexpr MinorVersion kBinary{1, 37};
constexpr MinorVersion kOldest{1, 34};
constexpr std::string_view kComponent = "kube";
constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace({text.data(), text.size()}));
}

std::optional<bool> ParseBool(std::string_view text) {
  static constexpr std::string_view kTrue[] = {"1", "t", "T", "TRUE", "true", "True"};
  static constexpr std::string_view kFalse[] = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, text) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, text) != std::end(kFalse)) return false;
  return std::nullopt;
}

struct Item {
  std::string component;
  std::string text;
};

// The items of all values, without blank ones.
std::vector<Item> SplitItems(std::span<const std::string> values) {
  std::vector<Item> items;
  for (const std::string& value : values) {
    for (const absl::string_view part : absl::StrSplit(value, ',')) {
      const std::string text = Trimmed({part.data(), part.size()});
      if (text.empty()) continue;
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos) {
        items.push_back({"", text});
      } else {
        items.push_back({Trimmed(text.substr(0, colon)), text.substr(colon + 1)});
      }
    }
  }
  return items;
}

base::Result<void> CheckComponents(const std::vector<Item>& items) {
  bool bare = false;
  bool prefixed = false;
  for (const Item& item : items) (item.component.empty() ? bare : prefixed) = true;
  for (const Item& item : items) {
    if (!item.component.empty() && item.component != kComponent) {
      return base::Fail(fmt::format("component not registered: {}", item.component));
    }
  }
  if (bare && prefixed) {
    return base::Fail(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use");
  }
  return {};
}

// "1.36" or "kube=1.36". Nothing: no value was given.
base::Result<std::optional<MinorVersion>> ParseVersion(std::span<const std::string> values) {
  std::optional<MinorVersion> version;
  for (const std::string& value : values) {
    std::string_view text = value;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      if (text.substr(0, equals) != kComponent) {
        return base::Fail(fmt::format("component not registered: {}", text.substr(0, equals)));
      }
      text.remove_prefix(equals + 1);
    }
    const std::string_view whole = text;
    if (text.starts_with('v')) text.remove_prefix(1);
    MinorVersion parsed;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, parsed.major);
    if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') {
      return base::Fail(fmt::format("could not parse {} as version", base::QuoteGo(whole)));
    }
    const auto minor = std::from_chars(major.ptr + 1, end, parsed.minor);
    if (minor.ec != std::errc()) {
      return base::Fail(fmt::format("could not parse {} as version", base::QuoteGo(whole)));
    }
    if (minor.ptr != end) {
      return base::Fail(fmt::format("patch version not allowed, got: {}={}", kComponent, whole));
    }
    version = parsed;
  }
  return version;
}

}  // namespace

std::string MinorVersion::ToString() const { return fmt::format("{}.{}", major, minor); }

base::Result<Versions> ResolveVersions(const VersionWishes& wishes) {
  const auto emulated = ParseVersion(wishes.emulated);
  if (!emulated) return std::unexpected(emulated.error());
  const auto compatible = ParseVersion(wishes.min_compatibility);
  if (!compatible) return std::unexpected(compatible.error());
  Versions versions;
  versions.emulation = emulated->value_or(kBinary);
  const MinorVersion before{versions.emulation.major, versions.emulation.minor - 1};
  versions.min_compatibility = compatible->value_or(std::max(before, kOldest));
  std::vector<std::string> errors;
  if (versions.emulation < kOldest || versions.emulation > kBinary) {
    errors.push_back(fmt::format("emulation version {} is not between [{}, {}.0]",
                                 versions.emulation.ToString(), kOldest.ToString(), kBinary.ToString()));
  }
  if (versions.min_compatibility < kOldest || versions.min_compatibility > versions.emulation) {
    errors.push_back(fmt::format("minCompatibilityVersion version {} is not between [{}, {}]",
                                 versions.min_compatibility.ToString(), kOldest.ToString(),
                                 versions.emulation.ToString()));
  }
  if (!errors.empty()) return base::Fail(api::AggregateErrors(errors));
  return versions;
}

base::Result<void> FeatureGates::Set(std::span<const std::string> values) {
  const std::vector<Item> items = SplitItems(values);
  if (auto checked = CheckComponents(items); !checked) return checked;
  std::vector<std::pair<std::string, bool>> wishes;
  for (const Item& item : items) {
    const std::size_t equals = item.text.find('=');
    const std::string name = Trimmed(std::string_view(item.text).substr(0, equals));
    if (equals == std::string::npos) return base::Fail(fmt::format("missing bool value for {}", name));
    const std::string value = Trimmed(std::string_view(item.text).substr(equals + 1));
    const auto enabled = ParseBool(value);
    if (!enabled) {
      return base::Fail(
          fmt::format("invalid value of {}={}, err: strconv.ParseBool: parsing {}: invalid syntax", name,
                      value, base::QuoteGo(value)));
    }
    wishes.emplace_back(name, *enabled);
  }
  for (const auto& [name, enabled] : wishes) {
    if (auto done = SetOne(name, enabled); !done) return done;
  }
  return CheckNeeds();
}

base::Result<void> FeatureGates::SetOne(const std::string& name, bool enabled) {
  if (name != kAllAlpha && name != kAllBeta) {
    const Gate* const gate = FindGate(name);
    if (gate == nullptr) return base::Fail(fmt::format("unrecognized feature gate: {}", name));
    if (gate->locked && enabled != gate->enabled) {
      return base::Fail(fmt::format("cannot set feature gate {} to {}, feature is locked to {}", name,
                                    enabled, gate->enabled));
    }
    if (gate->introduced_minor > versions_.emulation.minor) {
      return base::Fail(
          fmt::format("cannot set feature gate {} to {}, feature is PreAlpha at emulated version {}, "
                      "min compatibility version {}",
                      name, enabled, versions_.emulation.ToString(), versions_.min_compatibility.ToString()));
    }
  }
  set_.insert_or_assign(name, enabled);
  return {};
}

bool FeatureGates::DefaultOf(const Gate& gate) const {
  if (gate.introduced_minor > versions_.emulation.minor) return false;
  // kube-scheduler does not know it, so a command line that is right for kube-scheduler cannot turn it off.
  if (gate.name == "SchedulerPreEnqueuePodStatus") return IsEnabled("SchedulerAsyncAPICalls");
  if (gate.name == "VolumeLimitScaling" && versions_.emulation < kBinary) return false;
  if (gate.name == "DRAFractionalCapacityRange" && versions_.min_compatibility >= kBinary) return true;
  return gate.enabled;
}

bool FeatureGates::IsEnabled(std::string_view name) const {
  if (const auto found = set_.find(name); found != set_.end()) return found->second;
  const Gate* const gate = FindGate(name);
  if (gate == nullptr) return false;
  if (!gate->locked && gate->introduced_minor <= versions_.emulation.minor) {
    const auto all = set_.find(gate->stage == Stage::kAlpha ? kAllAlpha : kAllBeta);
    const bool in_stage = gate->stage == Stage::kAlpha || gate->stage == Stage::kBeta;
    if (in_stage && all != set_.end()) return all->second;
  }
  return DefaultOf(*gate);
}

base::Result<void> FeatureGates::CheckNeeds() const {
  std::vector<std::string> errors;
  for (const Gate& gate : KnownGates()) {
    if (!IsEnabled(gate.name)) continue;
    std::vector<std::string_view> disabled;
    for (const std::string_view need : gate.needs) {
      if (!IsEnabled(need)) disabled.push_back(need);
    }
    if (disabled.empty()) continue;
    errors.push_back(fmt::format("{} is enabled, but depends on features that are disabled: [{}]", gate.name,
                                 fmt::join(disabled, " ")));
  }
  if (!errors.empty()) return base::Fail(api::AggregateErrors(errors));
  return {};
}

framework::Features FeatureGates::ToFeatures() const {
  framework::Features features;
  for (const framework::FeatureGate& gate : framework::FeatureGates()) {
    features.*gate.value = IsEnabled(gate.name);
  }
  return features;
}

}  // namespace berth::config
