#include "config/object_kind.h"

#include <absl/strings/match.h>
#include <fmt/format.h>
#include <optional>

#include "base/go_text.h"

namespace berth::config {
namespace {

constexpr std::string_view kGoType =
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
    "\"json:\\\"kind,omitempty\\\"\" }";

std::unexpected<base::Error> Unreadable(std::string_view detail) {
  return base::Fail(fmt::format("couldn't get version/kind; json parse error: {}", detail));
}

base::Result<void> ParseApiVersion(std::string_view text, ObjectKind& kind) {
  if (text.empty() || text == "/") return {};
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    kind.version = text;
    return {};
  }
  if (text.find('/', slash + 1) != std::string_view::npos) {
    return base::Fail(fmt::format("unexpected GroupVersion string: {}", text));
  }
  kind.group = text.substr(0, slash);
  kind.version = text.substr(slash + 1);
  return {};
}

}  // namespace

std::string ObjectKind::ApiVersion() const { return group.empty() ? version : group + "/" + version; }

base::Result<ObjectKind> ReadObjectKind(const JsonNode& object) {
  ObjectKind found;
  if (object.is_null()) return found;
  if (!object.is_object()) {
    return Unreadable(
        fmt::format("json: cannot unmarshal {} into Go value of type {}", object.KindName(), kGoType));
  }
  std::string api_version;
  std::optional<std::string> error;
  for (const JsonNode::Member& member : object.members) {
    const bool is_version = absl::EqualsIgnoreCase(member.key, "apiVersion");
    if (!is_version && !absl::EqualsIgnoreCase(member.key, "kind")) continue;
    if (member.value.is_null()) continue;
    if (member.value.kind != JsonNode::Kind::kString) {
      if (!error) {
        error = fmt::format("json: cannot unmarshal {} into Go struct field .{} of type string",
                            member.value.KindName(), is_version ? "apiVersion" : "kind");
      }
      continue;
    }
    (is_version ? api_version : found.kind) = member.value.text;
  }
  if (error) return Unreadable(*error);
  if (const auto parsed = ParseApiVersion(api_version, found); !parsed)
    return std::unexpected(parsed.error());
  return found;
}

std::string NotRegistered(const ObjectKind& kind) {
  // The place of the scheme in kube-scheduler's source is part of the text that users search for.
  return fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                     base::QuoteGo(kind.kind), base::QuoteGo(kind.ApiVersion()));
}

}  // namespace berth::config
