#include "sandbox/body.h"

#include <absl/strings/escaping.h>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/go_json.h"
#include "sandbox/media.h"
#include "sandbox/text_parts.h"
#include "sandbox/validation.h"
#include "wire/json_document.h"
#include "wire/json_path.h"
#include "wire/schema.h"
#include "wire/transcode.h"
#include "wire/yaml.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kSummaryBytes = 30;

// What begins as an object does is shown as it is, everything else by its bytes.
std::string Summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const std::string_view begin = body.substr(0, kSummaryBytes);
  std::string text(begin);
  if (!begin.starts_with('{')) text = absl::BytesToHexString(absl::string_view(begin.data(), begin.size()));
  if (body.size() > kSummaryBytes) text += " ...";
  return text;
}

StatusError Unreadable(const ExpectedKind& expected, std::string_view why, std::string_view body) {
  return BadRequest(fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                                expected.kind, why, Summary(body)));
}

// Without the group, as messages name it.
std::string_view VersionPart(std::string_view api_version) {
  return api_version.substr(api_version.find('/') == std::string_view::npos ? 0 : api_version.find('/') + 1);
}

StatusError CannotBe(const ExpectedKind& given, const ExpectedKind& expected, std::string_view why) {
  return BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", given.kind,
                                VersionPart(given.api_version), expected.kind, why));
}

// Go's package of the internal types of a group: "core", "apps", "storage".
std::string_view InternalPackage(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return "core";
  const std::string_view group = api_version.substr(0, slash);
  return group == "events.k8s.io" ? "core" : group.substr(0, group.find('.'));
}

// The words tell of upstream's insides: a kind that it knows cannot be converted, another it never heard of.
std::string WhyNotKind(const ExpectedKind& given, const ExpectedKind& expected) {
  if (wire::Schema::Get().FindKind(given.api_version, given.kind) != nullptr) {
    return fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", VersionPart(given.api_version),
                       given.kind, InternalPackage(expected.api_version), expected.kind);
  }
  return fmt::format(
      "no kind \"{}\" is registered for version \"{}\" in scheme "
      "\"pkg/api/legacyscheme/scheme.go:30\"",
      given.kind, given.api_version);
}

ApiResult<json::object> CheckKind(json::object document, const ExpectedKind& expected) {
  const std::string_view kind = TextAt(document, {"kind"});
  const std::string_view api_version = TextAt(document, {"apiVersion"});
  const ExpectedKind given{api_version.empty() ? expected.api_version : api_version,
                           kind.empty() ? expected.kind : kind};
  if (given.kind != expected.kind || wire::Schema::Get().FindKind(given.api_version, given.kind) == nullptr) {
    return Refuse(CannotBe(given, expected, WhyNotKind(given, expected)));
  }
  if (given.api_version != expected.api_version) {
    return Refuse(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    api_version, expected.api_version)));
  }
  document["kind"] = expected.kind;
  document["apiVersion"] = expected.api_version;
  return document;
}

ApiResult<json::object> DecodeText(std::string_view text, const ExpectedKind& expected,
                                   const wire::Message* message, wire::StrictErrors* strict) {
  wire::JsonOptions options;
  options.message = message;
  options.strict = message != nullptr ? strict : nullptr;
  base::Result<json::value> value = wire::ParseJson(text, options);
  if (!value) {
    const std::string problem = JsonSyntaxProblem(text);
    return Refuse(Unreadable(
        expected,
        problem.empty() ? value.error().message : "couldn't get version/kind; json parse error: " + problem,
        text));
  }
  json::object* object = value->if_object();
  if (object == nullptr) return Refuse(Unreadable(expected, "json: cannot unmarshal into Go value", text));
  return CheckKind(std::move(*object), expected);
}

ApiResult<void> Judge(const wire::StrictErrors& strict, const ExpectedKind& expected,
                      FieldValidation validation, std::vector<std::string>& warnings) {
  if (strict.empty() || validation == FieldValidation::kIgnore) return {};
  const std::string text = strict.ToString();
  if (validation == FieldValidation::kStrict) return Refuse(CannotBe(expected, expected, text));
  constexpr std::string_view kPrefix = "strict decoding error: ";
  warnings.push_back(text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text);
  return {};
}

ApiResult<void> ReadPropagation(std::string_view text, DeleteWish& wish) {
  if (text == "Foreground") {
    wish.propagation = Propagation::kForeground;
  } else if (text == "Background") {
    wish.propagation = Propagation::kBackground;
  } else if (text == "Orphan") {
    wish.propagation = Propagation::kOrphan;
  } else if (!text.empty()) {
    const FieldError error{FieldErrorType::kNotSupported, "propagationPolicy", fmt::format("\"{}\"", text),
                           "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""};
    return Refuse(Invalid("meta.k8s.io", "DeleteOptions", "", {&error, 1}));
  }
  return {};
}

std::string_view OptionsOf(Verb verb) {
  switch (verb) {
    case Verb::kUpdate:
      return "UpdateOptions";
    case Verb::kPatch:
      return "PatchOptions";
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      return "DeleteOptions";
    default:
      return "CreateOptions";
  }
}

}  // namespace

ApiResult<FieldValidation> FieldValidationOf(const Route& route) {
  const std::string_view text = route.parameter("fieldValidation");
  if (text == "Strict") return FieldValidation::kStrict;
  if (text == "Warn" || text.empty()) return FieldValidation::kWarn;
  if (text == "Ignore") return FieldValidation::kIgnore;
  const FieldError error{FieldErrorType::kNotSupported, "fieldValidation", fmt::format("\"{}\"", text),
                         "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""};
  return Refuse(Invalid("meta.k8s.io", "CreateOptions", "", {&error, 1}));
}

ApiResult<bool> DryRunOf(const Route& route) {
  const std::string_view text = route.parameter("dryRun");
  if (text.empty()) return false;
  if (text == "All") return true;
  const FieldError error{FieldErrorType::kNotSupported, "dryRun", fmt::format("[\"{}\"]", text),
                         "supported values: \"All\""};
  return Refuse(Invalid("meta.k8s.io", OptionsOf(route.verb), "", {&error, 1}));
}

ApiResult<json::object> DecodeBody(const net::Request& request, const ExpectedKind& expected,
                                   FieldValidation validation, std::vector<std::string>& warnings) {
  const ApiResult<MediaType> media = BodyType(request.headers.Find("Content-Type"));
  if (!media) return Refuse(media.error());
  if (*media == MediaType::kProtobuf) {
    base::Result<json::object> document = wire::EnvelopeToDocument(request.body);
    if (!document) return Refuse(Unreadable(expected, document.error().message, ""));
    return CheckKind(std::move(*document), expected);
  }
  const wire::KindInfo* info = wire::Schema::Get().FindKind(expected.api_version, expected.kind);
  const wire::Message* message = info != nullptr ? info->message : nullptr;
  wire::StrictErrors strict;
  ApiResult<json::object> document = Refuse(PathNotFound());
  if (*media == MediaType::kYaml) {
    const base::Result<std::string> text = wire::YamlToJson(request.body);
    if (!text) return Refuse(Unreadable(expected, text.error().message, request.body));
    document = DecodeText(*text, expected, message, &strict);
  } else {
    document = DecodeText(request.body, expected, message, &strict);
  }
  if (!document) return document;
  const ApiResult<void> judged = Judge(strict, expected, validation, warnings);
  if (!judged) return Refuse(judged.error());
  return document;
}

ApiResult<void> CheckFields(const Resource& served, const json::object& document, FieldValidation validation,
                            std::vector<std::string>& warnings) {
  if (validation == FieldValidation::kIgnore) return {};
  wire::StrictErrors strict;
  wire::FindUnknownFields(*served.message, document, strict);
  return Judge(strict, {served.api_version, served.kind}, validation, warnings);
}

ApiResult<void> CheckRepeatedKeys(std::string_view yaml, FieldValidation validation,
                                  std::vector<std::string>& warnings) {
  if (validation == FieldValidation::kIgnore) return {};
  const base::Result<std::string> read = wire::YamlToJson(yaml, {.unique_keys = true});
  if (read) return {};
  if (validation == FieldValidation::kStrict) {
    return Refuse(
        BadRequest("error strict decoding patch: error converting YAML to JSON: " + read.error().message));
  }
  // A line for each, below the headline.
  const std::vector<std::string_view> lines = SplitText(read.error().message, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) warnings.emplace_back(TrimText(lines[i]));
  return {};
}

FieldManager ManagerOf(const net::Request& request, const Route& route) {
  const std::string_view given = route.parameter("fieldManager");
  if (!given.empty()) return {.name = std::string(given), .is_noted_at_creation = true};
  const std::string* agent = request.headers.Find("User-Agent");
  const std::string_view program = agent != nullptr ? std::string_view(*agent) : std::string_view();
  return {.name = std::string(program.substr(0, program.find('/')))};
}

ApiResult<DeleteWish> DecodeDeleteOptions(const net::Request& request, const Route& route) {
  DeleteWish wish;
  const ApiResult<bool> dry_run = DryRunOf(route);
  if (!dry_run) return Refuse(dry_run.error());
  wish.dry_run = *dry_run;
  if (const std::string_view grace = route.parameter("gracePeriodSeconds"); !grace.empty()) {
    json::error_code broken;
    const json::value number = json::parse(json::string_view(grace.data(), grace.size()), broken);
    if (broken || !number.is_int64()) return Refuse(BadRequest("gracePeriodSeconds must be an integer"));
    wish.grace_seconds = number.get_int64();
  }
  const ApiResult<void> asked = ReadPropagation(route.parameter("propagationPolicy"), wish);
  if (!asked) return Refuse(asked.error());
  if (request.body.empty()) return wish;
  // Clients send DeleteOptions under v1, meta.k8s.io/v1 or the version of the group: all are the same.
  const ApiResult<MediaType> media = BodyType(request.headers.Find("Content-Type"));
  if (!media) return Refuse(media.error());
  json::object options;
  if (*media == MediaType::kProtobuf) {
    base::Result<json::object> document = wire::EnvelopeToDocument(request.body);
    if (!document) return Refuse(BadRequest(document.error().message));
    options = std::move(*document);
  } else {
    base::Result<std::string> text =
        *media == MediaType::kYaml ? wire::YamlToJson(request.body) : base::Result<std::string>(request.body);
    if (!text) return Refuse(BadRequest(text.error().message));
    base::Result<json::value> value = wire::ParseJson(*text);
    if (!value || !value->is_object()) return Refuse(BadRequest("the body is no DeleteOptions object"));
    options = std::move(value->get_object());
  }
  if (const std::optional<std::int64_t> grace = FindNumber(options, {"gracePeriodSeconds"})) {
    wish.grace_seconds = grace;
  }
  if (const std::string_view uid = TextAt(options, {"preconditions", "uid"}); !uid.empty()) wish.uid = uid;
  if (const std::string_view version = TextAt(options, {"preconditions", "resourceVersion"});
      !version.empty()) {
    wish.version = version;
  }
  const ApiResult<void> policy = ReadPropagation(TextAt(options, {"propagationPolicy"}), wish);
  if (!policy) return Refuse(policy.error());
  if (const json::value* orphan = FindValue(options, {"orphanDependents"}); orphan && orphan->is_bool()) {
    wish.propagation = orphan->get_bool() ? Propagation::kOrphan : Propagation::kBackground;
  }
  if (const json::array* dry = FindArray(options, {"dryRun"}); dry != nullptr && !dry->empty()) {
    wish.dry_run = true;
  }
  return wish;
}

}  // namespace berth::sandbox
