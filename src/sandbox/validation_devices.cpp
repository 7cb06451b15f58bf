#include "sandbox/validation_devices.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kListMax = 32;
constexpr std::size_t kSubrequestsMax = 8;
constexpr std::size_t kExpressionBytesMax = 10 * 1024;

// The names of the requests, each with those of its alternatives.
using RequestNames = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

void CheckSize(const json::object& holder, std::string_view list, std::size_t size_max,
               const std::string& path, FieldErrorList& errors) {
  const json::array* elements = FindArray(holder, {list});
  if (elements == nullptr || elements->size() <= size_max) return;
  AddError(errors, FieldErrorType::kTooMany, fmt::format("{}.{}", path, list),
           std::to_string(elements->size()), fmt::format("must have at most {} items", size_max));
}

void CheckSelectors(const json::object& holder, const std::string& path, FieldErrorList& errors) {
  CheckSize(holder, "selectors", kListMax, path, errors);
  ForEachElement(holder, "selectors", path, [&](const json::object& selector, const std::string& at) {
    const json::object* cel = FindObject(selector, {"cel"});
    if (cel == nullptr) {
      RequireField(errors, at + ".cel");
    } else if (TextAt(*cel, {"expression"}).size() > kExpressionBytesMax) {
      AddError(errors, FieldErrorType::kTooLong, at + ".cel.expression", "",
               fmt::format("may not be more than {} bytes", kExpressionBytesMax));
    }
  });
}

// One request, or one of the alternatives of a request.
void CheckRequestBody(const json::object& request, const std::string& path, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kModes = {"All", "ExactCount"};
  const std::string_view device_class = TextAt(request, {"deviceClassName"});
  if (device_class.empty()) {
    RequireField(errors, path + ".deviceClassName");
  } else {
    CheckSubdomain(device_class, path + ".deviceClassName", errors);
  }
  CheckSelectors(request, path, errors);
  const std::string_view mode = TextAt(request, {"allocationMode"});
  const std::int64_t count = NumberAt(request, {"count"});
  const auto refuse_count = [&](std::string_view why) {
    AddError(errors, FieldErrorType::kInvalid, path + ".count", std::to_string(count), why);
  };
  if (mode == "All") {
    if (count != 0) refuse_count("must not be specified when allocationMode is 'All'");
  } else if (mode == "ExactCount") {
    if (count <= 0) refuse_count("must be greater than zero");
  } else {
    UnsupportedChoice(errors, path + ".allocationMode", mode, kModes);
  }
}

void CheckName(const json::object& request, std::set<std::string, std::less<>>& names, const std::string& at,
               FieldErrorList& errors) {
  const std::string_view name = TextAt(request, {"name"});
  CheckDnsLabel(name, at + ".name", errors);
  if (!names.emplace(name).second) AddError(errors, FieldErrorType::kDuplicate, at, base::QuoteGo(name), "");
}

void CheckRequest(const json::object& request, const std::string& at, FieldErrorList& errors) {
  const json::array* choices = FindArray(request, {"firstAvailable"});
  const bool has_choices = choices != nullptr && !choices->empty();
  const json::object* exactly = FindObject(request, {"exactly"});
  if (has_choices && exactly != nullptr) {
    AddError(errors, FieldErrorType::kInvalid, at, "null",
             "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set");
  } else if (exactly != nullptr) {
    CheckRequestBody(*exactly, at + ".exactly", errors);
  } else if (has_choices) {
    CheckSize(request, "firstAvailable", kSubrequestsMax, at, errors);
    std::set<std::string, std::less<>> names;
    ForEachElement(request, "firstAvailable", at, [&](const json::object& choice, const std::string& path) {
      CheckName(choice, names, path, errors);
      CheckRequestBody(choice, path, errors);
    });
  } else {
    RequireField(errors, at, "exactly one of `exactly` or `firstAvailable` is required");
  }
}

RequestNames NamesOf(const json::object& devices) {
  RequestNames names;
  ForEachElement(devices, "requests", "", [&](const json::object& request, const std::string&) {
    auto& choices = names[std::string(TextAt(request, {"name"}))];
    ForEachElement(request, "firstAvailable", "", [&](const json::object& choice, const std::string&) {
      choices.emplace(TextAt(choice, {"name"}));
    });
  });
  return names;
}

// "request" or "request/alternative".
bool IsKnown(const RequestNames& names, std::string_view reference) {
  const std::size_t slash = reference.find('/');
  const auto it = names.find(reference.substr(0, slash));
  if (it == names.end()) return false;
  return slash == std::string_view::npos || it->second.contains(reference.substr(slash + 1));
}

void CheckReferences(const json::object& holder, const RequestNames& names, const std::string& path,
                     FieldErrorList& errors) {
  const json::array* requests = FindArray(holder, {"requests"});
  for (std::size_t i = 0; requests != nullptr && i < requests->size(); ++i) {
    const std::string_view reference = TextOf((*requests)[i]);
    if (IsKnown(names, reference)) continue;
    AddError(errors, FieldErrorType::kInvalid, fmt::format("{}.requests[{}]", path, i),
             base::QuoteGo(reference),
             "must be the name of a request in the claim or the name of a request and a subrequest separated "
             "by '/'");
  }
}

void CheckDevices(const json::object& holder, const std::string& path, FieldErrorList& errors) {
  const json::object* devices = FindObject(holder, {"spec", "devices"});
  if (devices == nullptr) return;
  CheckSize(*devices, "requests", kListMax, path, errors);
  std::set<std::string, std::less<>> seen;
  ForEachElement(*devices, "requests", path, [&](const json::object& request, const std::string& at) {
    CheckName(request, seen, at, errors);
    CheckRequest(request, at, errors);
  });
  const RequestNames names = NamesOf(*devices);
  for (const std::string_view list : {"constraints", "config"}) {
    CheckSize(*devices, list, kListMax, path, errors);
    ForEachElement(*devices, list, path, [&](const json::object& element, const std::string& at) {
      CheckReferences(element, names, at, errors);
    });
  }
}

}  // namespace

void CheckDeviceClass(const json::object& document, FieldErrorList& errors) {
  if (const json::object* spec = FindObject(document, {"spec"})) CheckSelectors(*spec, "spec", errors);
}

void CheckDeviceClaim(const json::object& document, FieldErrorList& errors) {
  CheckDevices(document, "spec.devices", errors);
}

void CheckDeviceClaimTemplate(const json::object& document, FieldErrorList& errors) {
  if (const json::object* spec = FindObject(document, {"spec"})) {
    CheckDevices(*spec, "spec.spec.devices", errors);
  }
}

}  // namespace berth::sandbox
