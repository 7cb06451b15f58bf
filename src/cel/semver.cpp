#include "cel/semver.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "fmt/format.h"

#include "cel/utf8.h"

namespace berth::cel {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kIdentifierCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";

bool ConsistsOf(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

bool HasLeadingZero(std::string_view text) { return text.size() > 1 && text.front() == '0'; }

base::Result<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    return base::Fail(fmt::format("strconv.ParseUint: parsing {}: value out of range", GoQuote(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return base::Fail(fmt::format("strconv.ParseUint: parsing {}: invalid syntax", GoQuote(text)));
  }
  return number;
}

// name: "major", capitalised: "Major", as the two messages want it.
base::Result<std::uint64_t> ParseCore(std::string_view text, std::string_view name,
                                      std::string_view capitalised) {
  if (!ConsistsOf(text, kDigits)) {
    return base::Fail(fmt::format("Invalid character(s) found in {} number {}", name, GoQuote(text)));
  }
  if (HasLeadingZero(text)) {
    return base::Fail(
        fmt::format("{} number must not contain leading zeroes {}", capitalised, GoQuote(text)));
  }
  return ParseNumber(text);
}

base::Result<Semver::Identifier> ParseIdentifier(std::string_view text) {
  if (text.empty()) return base::Fail("Prerelease is empty");
  Semver::Identifier identifier;
  identifier.text = text;
  if (ConsistsOf(text, kDigits)) {
    if (HasLeadingZero(text)) {
      return base::Fail(
          fmt::format("Numeric PreRelease version must not contain leading zeroes {}", GoQuote(text)));
    }
    const auto number = ParseNumber(text);
    if (!number) return std::unexpected(number.error());
    identifier.number = *number;
    identifier.numeric = true;
  } else if (!ConsistsOf(text, kIdentifierCharacters)) {
    return base::Fail(fmt::format("Invalid character(s) found in prerelease {}", GoQuote(text)));
  }
  return identifier;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

int CompareIdentifiers(const Semver::Identifier& left, const Semver::Identifier& right) {
  if (left.numeric != right.numeric) return left.numeric ? -1 : 1;
  if (left.numeric) return left.number < right.number ? -1 : (left.number > right.number ? 1 : 0);
  const int order = left.text.compare(right.text);
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

int ComparePrereleases(const Semver& left, const Semver& right) {
  if (left.prerelease.empty() || right.prerelease.empty()) {
    // A release is greater than any of its prereleases.
    if (left.prerelease.empty() == right.prerelease.empty()) return 0;
    return left.prerelease.empty() ? 1 : -1;
  }
  const std::size_t common = std::min(left.prerelease.size(), right.prerelease.size());
  for (std::size_t i = 0; i < common; ++i) {
    const int order = CompareIdentifiers(left.prerelease[i], right.prerelease[i]);
    if (order != 0) return order;
  }
  if (left.prerelease.size() == right.prerelease.size()) return 0;
  return left.prerelease.size() < right.prerelease.size() ? -1 : 1;
}

}  // namespace

base::Result<Semver> ParseSemver(std::string_view text) {
  if (text.empty()) return base::Fail("Version string empty");
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return base::Fail("No Major.Minor.Patch elements found");

  Semver version;
  const auto major = ParseCore(text.substr(0, first), "major", "Major");
  if (!major) return std::unexpected(major.error());
  version.major = *major;
  const auto minor = ParseCore(text.substr(first + 1, second - first - 1), "minor", "Minor");
  if (!minor) return std::unexpected(minor.error());
  version.minor = *minor;

  std::string_view rest = text.substr(second + 1);
  std::string_view build;
  std::string_view prerelease;
  const std::size_t plus = rest.find('+');
  const bool has_build = plus != std::string_view::npos;
  if (has_build) {
    build = rest.substr(plus + 1);
    rest = rest.substr(0, plus);
  }
  const std::size_t dash = rest.find('-');
  const bool has_prerelease = dash != std::string_view::npos;
  if (has_prerelease) {
    prerelease = rest.substr(dash + 1);
    rest = rest.substr(0, dash);
  }
  const auto patch = ParseCore(rest, "patch", "Patch");
  if (!patch) return std::unexpected(patch.error());
  version.patch = *patch;

  if (has_prerelease) {
    for (const std::string_view part : Split(prerelease)) {
      auto identifier = ParseIdentifier(part);
      if (!identifier) return std::unexpected(identifier.error());
      version.prerelease.push_back(std::move(*identifier));
    }
  }
  if (has_build) {
    for (const std::string_view part : Split(build)) {
      if (part.empty()) return base::Fail("Build meta data is empty");
      if (!ConsistsOf(part, kIdentifierCharacters)) {
        return base::Fail(fmt::format("Invalid character(s) found in build meta data {}", GoQuote(part)));
      }
      version.build.emplace_back(part);
    }
  }
  return version;
}

base::Result<Semver> ParseSemverTolerant(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  // Major, minor, and the rest with its own dots.
  std::vector<std::string> parts;
  while (parts.size() < 2 && text.contains('.')) {
    parts.emplace_back(text.substr(0, text.find('.')));
    text.remove_prefix(text.find('.') + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    if (part.size() <= 1) continue;
    part.erase(0, part.find_first_not_of('0'));
    if (part.empty() || !kDigits.contains(part.front())) part.insert(0, "0");
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string::npos) {
      return base::Fail("short version cannot contain PreRelease/Build meta data");
    }
    parts.resize(3, "0");
  }
  return ParseSemver(fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]));
}

int CompareSemver(const Semver& left, const Semver& right) {
  const std::array one = {left.major, left.minor, left.patch};
  const std::array two = {right.major, right.minor, right.patch};
  if (one != two) return one < two ? -1 : 1;
  return ComparePrereleases(left, right);
}

std::string SemverText(const Semver& version) {
  std::string text = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  char separator = '-';
  for (const Semver::Identifier& identifier : version.prerelease) {
    text += separator + identifier.text;
    separator = '.';
  }
  separator = '+';
  for (const std::string& part : version.build) {
    text += separator + part;
    separator = '.';
  }
  return text;
}

}  // namespace berth::cel
