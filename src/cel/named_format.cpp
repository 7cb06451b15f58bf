#include "cel/named_format.h"

#include <algorithm>
#include <array>

#include "re2/re2.h"

#include "api/validation.h"
#include "cel/time.h"
#include "cel/url.h"

namespace berth::cel {
namespace {

using Problems = std::vector<std::string>;

constexpr std::size_t kLabelLengthMax = 63;

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsLabel(std::string_view text, bool letter_first) {
  if (text.empty() || !IsLowerAlphanumeric(text.front()) || !IsLowerAlphanumeric(text.back())) return false;
  if (letter_first && (text.front() < 'a' || text.front() > 'z')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

bool IsDottedLabels(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsLabel(text.substr(0, dot), false)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// A generated name gets a suffix, so that a dash at its end is fine.
std::string WithoutTrailingDash(const std::string& text) {
  if (text.size() <= 1 || !text.ends_with('-')) return text;
  return text.substr(0, text.size() - 2) + "a";
}

Problems TooLong(const std::string& text) {
  if (text.size() <= kLabelLengthMax) return {};
  return {"must be no more than 63 characters"};
}

Problems Dns1123Label(const std::string& text) {
  Problems problems = TooLong(text);
  if (IsLabel(text, false)) return problems;
  problems.emplace_back(IsDottedLabels(text) ? "must not contain dots"
                                             : "a lowercase RFC 1123 label must consist of lower case "
                                               "alphanumeric characters or '-', and must start "
                                               "and end with an alphanumeric character (e.g. 'my-name',  or "
                                               "'123-abc', regex used for validation is "
                                               "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  return problems;
}

Problems Dns1035Label(const std::string& text) {
  Problems problems = TooLong(text);
  if (IsLabel(text, true)) return problems;
  problems.emplace_back(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
      "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
      "validation "
      "is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  return problems;
}

Problems Dns1123LabelPrefix(const std::string& text) { return Dns1123Label(WithoutTrailingDash(text)); }
Problems Dns1035LabelPrefix(const std::string& text) { return Dns1035Label(WithoutTrailingDash(text)); }
Problems Dns1123Subdomain(const std::string& text) { return api::SubdomainProblems(text); }
Problems Dns1123SubdomainPrefix(const std::string& text) {
  return api::SubdomainProblems(WithoutTrailingDash(text));
}
Problems QualifiedName(const std::string& text) { return api::LabelKeyProblems(text); }
Problems LabelValue(const std::string& text) { return api::LabelValueProblems(text); }

Problems Uri(const std::string& text) {
  const auto problem = RequestUriProblem(text);
  return problem ? Problems{*problem} : Problems{};
}

Problems Unless(bool good, const char* problem) { return good ? Problems{} : Problems{problem}; }

Problems Uuid(const std::string& text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  return Unless(RE2::FullMatch(text, kPattern), "does not match the UUID format");
}

Problems Byte(const std::string& text) {
  static const RE2 kPattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})");
  return Unless(RE2::FullMatch(text, kPattern), "invalid base64");
}

bool IsDate(std::string_view text) {
  // 0000 is a year to Go; what follows the date makes it a timestamp of a year that exists.
  if (text.size() != 10) return false;
  const std::string year(text.starts_with("0000") ? "2000" : text.substr(0, 4));
  return ParseTimestamp(year + std::string(text.substr(4)) + "T00:00:00Z").has_value();
}

Problems Date(const std::string& text) { return Unless(IsDate(text), "invalid date"); }

Problems DateTime(const std::string& text) {
  static const RE2 kClock("([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})");
  const std::size_t mark = text.find_first_of("tT");
  std::string hours;
  std::string minutes;
  std::string seconds;
  const bool good = mark != std::string::npos && IsDate(std::string_view(text).substr(0, mark)) &&
                    RE2::FullMatch(text.substr(mark + 1), kClock, &hours, &minutes, &seconds) &&
                    hours <= "23" && minutes <= "59" && seconds <= "59";
  return Unless(good, "invalid datetime");
}

constexpr std::array kFormats = {
    NamedFormat{"dns1123Label", "DNS1123Label", 8, Dns1123Label},
    NamedFormat{"dns1123Subdomain", "DNS1123Subdomain", 15, Dns1123Subdomain},
    NamedFormat{"dns1035Label", "DNS1035Label", 8, Dns1035Label},
    NamedFormat{"qualifiedName", "QualifiedName", 15, QualifiedName},
    NamedFormat{"dns1123LabelPrefix", "DNS1123LabelPrefix", 8, Dns1123LabelPrefix},
    NamedFormat{"dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 15, Dns1123SubdomainPrefix},
    NamedFormat{"dns1035LabelPrefix", "DNS1035LabelPrefix", 8, Dns1035LabelPrefix},
    NamedFormat{"labelValue", "LabelValue", 10, LabelValue},
    NamedFormat{"uri", "URI", 276, Uri},
    NamedFormat{"uuid", "uuid", 18, Uuid},
    NamedFormat{"byte", "byte", 21, Byte},
    NamedFormat{"date", "date", 18, Date},
    NamedFormat{"datetime", "datetime", 18, DateTime},
};

}  // namespace

std::span<const NamedFormat> NamedFormats() { return kFormats; }

const NamedFormat* FindNamedFormat(std::string_view function) {
  const auto it = std::find_if(kFormats.begin(), kFormats.end(),
                               [&](const auto& format) { return format.function == function; });
  return it == kFormats.end() ? nullptr : &*it;
}

}  // namespace berth::cel
