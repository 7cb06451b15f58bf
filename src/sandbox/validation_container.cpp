#include "sandbox/validation_container.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/quantity.h"
#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kNative = "kubernetes.io/";
constexpr std::string_view kHugePages = "hugepages-";

bool IsNative(std::string_view resource) {
  return resource.find('/') == std::string_view::npos || resource.find(kNative) != std::string_view::npos;
}

// Amounts that nodes may promise more often than they have them.
bool MayOvercommit(std::string_view resource) {
  return IsNative(resource) && !resource.starts_with(kHugePages);
}

bool IsExtended(std::string_view resource) {
  if (IsNative(resource) || resource.starts_with("requests.")) return false;
  return api::LabelKeyProblems(fmt::format("requests.{}", resource)).empty();
}

void CheckResourceName(std::string_view resource, const std::string& field, FieldErrorList& errors) {
  const std::vector<std::string> problems = api::LabelKeyProblems(resource);
  AddProblems(errors, field, resource, problems);
  const auto refuse = [&](std::string_view why) {
    AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(resource), why);
  };
  if (resource.find('/') == std::string_view::npos) {
    const bool is_for_containers = resource == "cpu" || resource == "memory" ||
                                   resource == "ephemeral-storage" || resource.starts_with(kHugePages);
    const bool is_known =
        is_for_containers || resource == "storage" || resource == "pods" || resource == "services";
    if (problems.empty() && !is_known) refuse("must be a standard resource type or fully qualified");
    if (!is_for_containers) refuse("must be a standard resource for containers");
  } else if (!IsNative(resource) && !IsExtended(resource)) {
    refuse("doesn't follow extended resource name standard");
  }
}

void CheckAmount(std::string_view resource, std::string_view text, const std::string& field,
                 FieldErrorList& errors) {
  CheckResourceName(resource, field, errors);
  const auto amount = api::Quantity::Parse(text);
  if (!amount) return;
  const auto refuse = [&](std::string_view why) {
    AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(text), why);
  };
  if (amount->Compare(api::Quantity()) < 0) refuse("must be greater than or equal to 0");
  if (IsExtended(resource) && amount->MilliValue() % 1000 != 0) refuse("must be an integer");
}

void CheckRequest(std::string_view resource, std::string_view text, const json::object* limits,
                  const std::string& path, FieldErrorList& errors) {
  const std::string_view limit_text = limits != nullptr ? TextAt(*limits, {resource}) : std::string_view();
  if (limit_text.empty()) {
    if (!MayOvercommit(resource)) {
      RequireField(errors, path + ".limits", "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const auto limit = api::Quantity::Parse(limit_text);
  const auto wanted = api::Quantity::Parse(text);
  if (!limit || !wanted) return;
  const auto order = wanted->Compare(*limit);
  const bool must_be_equal = !MayOvercommit(resource);
  if (order == 0 || (order < 0 && !must_be_equal)) return;
  AddError(errors, FieldErrorType::kInvalid, path + ".requests", base::QuoteGo(text),
           fmt::format("must be {} to {} limit of {}", must_be_equal ? "equal" : "less than or equal",
                       resource, limit_text));
}

void CheckClaimNames(const json::object& resources, const NameSet& claims, const std::string& path,
                     FieldErrorList& errors) {
  NameSet seen;
  ForEachElement(resources, "claims", path, [&](const json::object& claim, const std::string& at) {
    const std::string_view name = TextAt(claim, {"name"});
    const std::string_view request = TextAt(claim, {"request"});
    if (name.empty()) {
      RequireField(errors, at);
      return;
    }
    std::string key(name);
    if (!request.empty()) {
      CheckDnsLabel(request, at + ".request", errors);
      key.append("/").append(request);
    }
    // A claim as a whole covers its requests.
    const auto part = seen.lower_bound(key + "/");
    const bool is_covered = request.empty() && part != seen.end() && part->starts_with(key + "/");
    if (seen.contains(name)) {
      AddError(errors, FieldErrorType::kDuplicate, at, base::QuoteGo(name), "");
    } else if (seen.contains(key) || is_covered) {
      AddError(errors, FieldErrorType::kDuplicate, at, base::QuoteGo(key), "");
    }
    seen.insert(key);
    if (claims.contains(name)) return;
    AddError(errors, FieldErrorType::kNotFound, at, base::QuoteGo(name),
             fmt::format("must be one of the names in pod.spec.resourceClaims{}",
                         claims.empty() ? " which is empty" : ""));
  });
}

std::vector<std::string> PortNameProblems(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  std::vector<std::string> problems;
  if (name.size() > 15) problems.emplace_back("must be no more than 15 characters");
  if (!std::ranges::all_of(name, is_allowed)) {
    problems.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!std::ranges::any_of(name, is_letter)) problems.emplace_back("must contain at least one letter (a-z)");
  if (name.find("--") != std::string_view::npos) {
    problems.emplace_back("must not contain consecutive hyphens");
  }
  if (name.starts_with('-') || name.ends_with('-')) {
    problems.emplace_back("must not begin or end with a hyphen");
  }
  return problems;
}

void CheckPorts(const json::object& container, const std::string& path, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 3> kProtocols = {"SCTP", "TCP", "UDP"};
  NameSet names;
  ForEachElement(container, "ports", path, [&](const json::object& port, const std::string& at) {
    if (const std::string_view name = TextAt(port, {"name"}); !name.empty()) {
      const std::vector<std::string> problems = PortNameProblems(name);
      AddProblems(errors, at + ".name", name, problems);
      if (problems.empty() && !names.emplace(name).second) {
        AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
      }
    }
    const std::int64_t number = NumberAt(port, {"containerPort"});
    if (number == 0) {
      RequireField(errors, at + ".containerPort");
    } else {
      CheckPort(number, at + ".containerPort", errors);
    }
    if (const std::int64_t host = NumberAt(port, {"hostPort"}); host != 0) {
      CheckPort(host, at + ".hostPort", errors);
    }
    CheckChoice(port, "protocol", kProtocols, at, errors);
  });
}

// Two containers of a pod cannot have the same port of the node.
void CheckHostPorts(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  NameSet taken;
  ForEachElement(spec, "containers", path, [&](const json::object& container, const std::string& at) {
    ForEachElement(container, "ports", at, [&](const json::object& port, const std::string& port_at) {
      const std::int64_t number = NumberAt(port, {"hostPort"});
      if (number == 0) return;
      const std::string key =
          fmt::format("{}/{}/{}", TextAt(port, {"protocol"}), TextAt(port, {"hostIP"}), number);
      if (taken.insert(key).second) return;
      AddError(errors, FieldErrorType::kDuplicate, port_at + ".hostPort", base::QuoteGo(key), "");
    });
  });
}

void CheckMounts(const json::object& container, const NameSet& volumes, const std::string& path,
                 FieldErrorList& errors) {
  NameSet paths;
  ForEachElement(container, "volumeMounts", path, [&](const json::object& mount, const std::string& at) {
    const std::string_view name = TextAt(mount, {"name"});
    const std::string_view where = TextAt(mount, {"mountPath"});
    if (name.empty()) RequireField(errors, at + ".name");
    if (!volumes.contains(name)) {
      AddError(errors, FieldErrorType::kNotFound, at + ".name", base::QuoteGo(name), "");
    }
    if (where.empty()) RequireField(errors, at + ".mountPath");
    if (!where.empty() && !paths.emplace(where).second) {
      AddError(errors, FieldErrorType::kInvalid, at + ".mountPath", base::QuoteGo(where), "must be unique");
    }
  });
}

void CheckContainer(const json::object& container, const ContainerContext& context, const std::string& at,
                    FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kMessages = {"File", "FallbackToLogsOnError"};
  constexpr std::array<std::string_view, 3> kPulls = {"Always", "IfNotPresent", "Never"};
  const std::string_view name = TextAt(container, {"name"});
  if (name.empty()) {
    RequireField(errors, at + ".name");
  } else {
    CheckDnsLabel(name, at + ".name", errors);
  }
  if (TextAt(container, {"image"}).empty()) RequireField(errors, at + ".image");
  CheckChoice(container, "terminationMessagePolicy", kMessages, at, errors);
  CheckPorts(container, at, errors);
  CheckMounts(container, context.volumes, at, errors);
  CheckChoice(container, "imagePullPolicy", kPulls, at, errors);
  if (const json::object* resources = FindObject(container, {"resources"})) {
    CheckRequirements(*resources, context.claims, at + ".resources", errors);
  }
}

// The sources that cannot do without one of their fields.
void CheckVolumeSource(const json::object& volume, const std::string& at, FieldErrorList& errors) {
  struct Source {
    std::string_view name;
    std::string_view needs;
  };
  constexpr Source kSources[] = {{"configMap", "name"},
                                 {"csi", "driver"},
                                 {"ephemeral", "volumeClaimTemplate"},
                                 {"hostPath", "path"},
                                 {"persistentVolumeClaim", "claimName"},
                                 {"secret", "secretName"}};
  for (const Source& source : kSources) {
    const json::object* given = FindObject(volume, {source.name});
    if (given == nullptr) continue;
    const json::value* needed = given->if_contains(source.needs);
    const bool is_there = needed != nullptr && !(needed->is_string() && needed->get_string().empty());
    if (!is_there) RequireField(errors, fmt::format("{}.{}.{}", at, source.name, source.needs));
  }
  const std::size_t sources = volume.size() - (volume.contains("name") ? 1 : 0);
  if (sources == 0) RequireField(errors, at, "must specify a volume type");
}

}  // namespace

NameSet CheckVolumes(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  NameSet names;
  ForEachElement(spec, "volumes", path, [&](const json::object& volume, const std::string& at) {
    const std::size_t before = errors.size();
    CheckVolumeSource(volume, at, errors);
    const std::string_view name = TextAt(volume, {"name"});
    if (name.empty()) {
      RequireField(errors, at + ".name");
    } else {
      CheckDnsLabel(name, at + ".name", errors);
    }
    if (names.contains(name)) {
      AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
    }
    if (errors.size() == before) names.emplace(name);
  });
  return names;
}

NameSet CheckPodClaims(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  NameSet names;
  ForEachElement(spec, "resourceClaims", path, [&](const json::object& claim, const std::string& at) {
    const std::string_view name = TextAt(claim, {"name"});
    if (name.empty()) {
      RequireField(errors, at + ".name");
    } else if (!names.emplace(name).second) {
      AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
    } else {
      CheckDnsLabel(name, at + ".name", errors);
    }
    const bool by_name = claim.contains("resourceClaimName");
    const bool by_template = claim.contains("resourceClaimTemplateName");
    if (by_name == by_template) {
      const auto shown = [&](std::string_view key) {
        return claim.contains(key) ? base::QuoteGo(TextAt(claim, {key})) : "null";
      };
      AddError(
          errors, FieldErrorType::kInvalid, at,
          fmt::format(R"({{"Name":{},"ResourceClaimName":{},"ResourceClaimTemplateName":{}}})",
                      base::QuoteGo(name), shown("resourceClaimName"), shown("resourceClaimTemplateName")),
          by_name ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                  : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    for (const std::string_view key : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (claim.contains(key)) CheckSubdomain(TextAt(claim, {key}), fmt::format("{}.{}", at, key), errors);
    }
  });
  names.erase("");
  return names;
}

void CheckRequirements(const json::object& resources, const NameSet& claims, const std::string& path,
                       FieldErrorList& errors) {
  const json::object* limits = FindObject(resources, {"limits"});
  const json::object* requests = FindObject(resources, {"requests"});
  bool has_plain = false;
  bool has_pages = false;
  const auto check = [&](const json::object* amounts, std::string_view list, auto more) {
    if (amounts == nullptr) return;
    for (const json::key_value_pair& amount : *amounts) {
      const std::string_view name(amount.key().data(), amount.key().size());
      CheckAmount(name, TextOf(amount.value()), fmt::format("{}.{}[{}]", path, list, name), errors);
      more(name, TextOf(amount.value()));
      has_plain = has_plain || name == "cpu" || name == "memory";
      has_pages = has_pages || name.starts_with(kHugePages);
    }
  };
  check(limits, "limits", [](std::string_view, std::string_view) {});
  check(requests, "requests", [&](std::string_view name, std::string_view text) {
    CheckRequest(name, text, limits, path, errors);
  });
  if (has_pages && !has_plain) ForbidField(errors, path, "HugePages require cpu or memory");
  CheckClaimNames(resources, claims, path, errors);
}

void CheckOverhead(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  const json::object* overhead = FindObject(spec, {"overhead"});
  if (overhead == nullptr) return;
  const json::object resources = {{"limits", *overhead}};
  CheckRequirements(resources, {}, path + ".overhead", errors);
}

void CheckHostNetwork(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  if (!FlagAt(spec, {"hostNetwork"})) return;
  ForEachElement(spec, "containers", path, [&](const json::object& container, const std::string& at) {
    ForEachElement(container, "ports", at, [&](const json::object& port, const std::string& port_at) {
      const std::int64_t host = NumberAt(port, {"hostPort"});
      if (host == 0 || host == NumberAt(port, {"containerPort"})) return;
      AddError(errors, FieldErrorType::kInvalid, port_at + ".hostPort", std::to_string(host),
               "must match `containerPort` when `hostNetwork` is true");
    });
  });
}

void CheckContainers(const json::object& spec, const ContainerContext& context, const std::string& path,
                     FieldErrorList& errors) {
  const json::array* containers = FindArray(spec, {"containers"});
  if (containers == nullptr || containers->empty()) RequireField(errors, path + ".containers");
  NameSet names;
  for (const std::string_view list : {"containers", "initContainers"}) {
    ForEachElement(spec, list, path, [&](const json::object& container, const std::string& at) {
      CheckContainer(container, context, at, errors);
      const std::string_view name = TextAt(container, {"name"});
      if (!name.empty() && !names.emplace(name).second) {
        AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
      }
    });
    if (list == "containers") CheckHostPorts(spec, path, errors);
  }
}

}  // namespace berth::sandbox
