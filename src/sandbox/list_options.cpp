#include "sandbox/list_options.h"

#include <absl/strings/escaping.h>
#include <charconv>
#include <fmt/format.h>

#include "base/go_text.h"
#include "sandbox/go_json.h"
#include "sandbox/validation.h"

namespace berth::sandbox {
namespace {

constexpr std::string_view kExact = "Exact";
constexpr std::string_view kNotOlderThan = "NotOlderThan";

void Forbid(FieldErrorList& errors, std::string_view field, std::string detail) {
  errors.push_back({FieldErrorType::kForbidden, std::string(field), "", std::move(detail)});
}

void CheckMatchValue(FieldErrorList& errors, std::string_view match, bool is_watch) {
  if (match == kNotOlderThan || (!is_watch && match == kExact)) return;
  errors.push_back({FieldErrorType::kNotSupported, "resourceVersionMatch", base::QuoteGo(match),
                    is_watch ? "supported values: \"NotOlderThan\""
                             : "supported values: \"Exact\", \"NotOlderThan\", \"\""});
}

FieldErrorList CheckList(const Route& route) {
  FieldErrorList errors;
  const std::string_view match = route.parameter("resourceVersionMatch");
  const std::string_view version = route.parameter("resourceVersion");
  if (!match.empty()) {
    if (version.empty()) {
      Forbid(errors, "resourceVersionMatch",
             "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!route.parameter("continue").empty()) {
      Forbid(errors, "resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    CheckMatchValue(errors, match, false);
    if (match == kExact && version == "0") {
      Forbid(errors, "resourceVersionMatch",
             "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (!route.parameter("sendInitialEvents").empty()) {
    Forbid(errors, "sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  return errors;
}

FieldErrorList CheckWatch(const Route& route) {
  FieldErrorList errors;
  const std::string_view match = route.parameter("resourceVersionMatch");
  const bool initial_given = !route.parameter("sendInitialEvents").empty();
  if (initial_given && match != kNotOlderThan) {
    Forbid(errors, "resourceVersionMatch",
           "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!match.empty()) {
    if (!initial_given) {
      Forbid(errors, "resourceVersionMatch",
             "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    CheckMatchValue(errors, match, true);
    if (!route.parameter("continue").empty()) {
      Forbid(errors, "resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
  }
  return errors;
}

ApiResult<std::optional<std::int64_t>> NumberOf(const Route& route, std::string_view name) {
  const std::string_view text = route.parameter(name);
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Refuse(
        BadRequest(fmt::format("strconv.ParseInt: parsing {}: invalid syntax", base::QuoteGo(text))));
  }
  return std::optional(number);
}

ApiResult<void> ReadVersion(const Route& route, bool is_watch, ListOptions& options) {
  const std::string_view text = route.parameter("resourceVersion");
  if (text.empty()) return {};
  options.version = ParseVersion(text);
  if (options.version) return {};
  const FieldError error{FieldErrorType::kInvalid, "resourceVersion", base::QuoteGo(text),
                         fmt::format("strconv.ParseUint: parsing {}: invalid syntax", base::QuoteGo(text))};
  if (is_watch) return Refuse(Invalid(*route.target.resource, "", {&error, 1}));
  return Refuse(BadRequest("invalid resource version: " + error.ToString()));
}

ApiResult<void> ReadContinue(const Route& route, ListOptions& options) {
  const std::string_view token = route.parameter("continue");
  if (token.empty()) return {};
  if (options.version && *options.version != 0) {
    return Refuse(BadRequest("specifying resource version is not allowed when using continue"));
  }
  std::string text;
  const bool decoded = absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &text);
  const std::size_t colon = text.find(':');
  if (decoded && colon != std::string::npos) {
    options.continue_version = ParseVersion(std::string_view(text).substr(0, colon));
    options.continue_after = text.substr(colon + 1);
  }
  if (!options.continue_version) {
    // Upstream's tokens are JSON in base64, and its refusal begins with what is wrong with them as such.
    const std::string problem = decoded ? JsonSyntaxProblem(text) : "illegal base64 data";
    return Refuse(BadRequest(fmt::format("invalid continue token: continue key is not valid{}{}",
                                         problem.empty() ? "" : ": ", problem)));
  }
  return {};
}

}  // namespace

std::string MakeContinueToken(std::uint64_t version, std::string_view after) {
  return absl::WebSafeBase64Escape(fmt::format("{}:{}", version, after));
}

ApiResult<ListOptions> ParseListOptions(const Route& route) {
  const bool is_watch = route.verb == Verb::kWatch;
  const FieldErrorList errors = is_watch ? CheckWatch(route) : CheckList(route);
  if (!errors.empty()) return Refuse(Invalid("meta.k8s.io", "ListOptions", "", errors));

  ApiResult<Selection> selection =
      Selection::Make(*route.target.resource, {.namespace_name = route.target.namespace_name,
                                               .name = route.target.name,
                                               .label_selector = route.parameter("labelSelector"),
                                               .field_selector = route.parameter("fieldSelector")});
  if (!selection) return Refuse(std::move(selection.error()));
  ListOptions options{.selection = std::move(*selection)};
  ApiResult<void> good = ReadVersion(route, is_watch, options);
  if (good) good = ReadContinue(route, options);
  if (!good) return Refuse(std::move(good.error()));

  const std::string_view match = route.parameter("resourceVersionMatch");
  if (match == kExact) options.match = VersionMatch::kExact;
  if (match == kNotOlderThan) options.match = VersionMatch::kNotOlderThan;
  const ApiResult<std::optional<std::int64_t>> limit = NumberOf(route, "limit");
  if (!limit) return Refuse(limit.error());
  options.limit = *limit && **limit > 0 ? static_cast<std::size_t>(**limit) : 0;
  const ApiResult<std::optional<std::int64_t>> timeout = NumberOf(route, "timeoutSeconds");
  if (!timeout) return Refuse(timeout.error());
  options.timeout_seconds = *timeout;
  options.allow_bookmarks = route.flag("allowWatchBookmarks");
  // A watch from nowhere begins with what is there.
  const bool from_nowhere = options.version.value_or(0) == 0 && route.parameter("sendInitialEvents").empty();
  options.send_initial_events = is_watch && (from_nowhere || route.flag("sendInitialEvents"));
  return options;
}

}  // namespace berth::sandbox
