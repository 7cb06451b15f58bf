#include "sandbox/validation_pod.h"

#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <limits>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"
#include "sandbox/validation_container.h"
#include "sandbox/validation_placement.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

void CheckDeadlineRange(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::optional<std::int64_t> deadline = FindNumber(spec, {"activeDeadlineSeconds"});
  if (!deadline || (*deadline >= 1 && *deadline <= kMax)) return;
  AddError(errors, FieldErrorType::kInvalid, path + ".activeDeadlineSeconds", std::to_string(*deadline),
           fmt::format("must be between 1 and {}, inclusive", kMax));
}

void CheckReadinessGates(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  ForEachElement(spec, "readinessGates", path, [&](const json::object& gate, const std::string& at) {
    CheckLabelKey(TextAt(gate, {"conditionType"}), at + ".conditionType", errors);
  });
}

// Names of other objects and of the pod in DNS, each if it is there.
void CheckNames(const json::object& spec, std::initializer_list<std::string_view> keys, bool are_labels,
                const std::string& path, FieldErrorList& errors) {
  for (const std::string_view key : keys) {
    const std::string_view name = TextAt(spec, {key});
    if (name.empty()) continue;
    (are_labels ? CheckDnsLabel : CheckSubdomain)(name, fmt::format("{}.{}", path, key), errors);
  }
}

}  // namespace

// In upstream's order: people read the first of several errors.
FieldErrorList ValidatePodSpec(const json::object& spec, const std::string& path) {
  constexpr std::array<std::string_view, 3> kRestart = {"Always", "OnFailure", "Never"};
  constexpr std::array<std::string_view, 4> kDns = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                                    "None"};
  constexpr std::array<std::string_view, 2> kPreemption = {"PreemptLowerPriority", "Never"};
  FieldErrorList errors;
  const NameSet volumes = CheckVolumes(spec, path, errors);
  const NameSet claims = CheckPodClaims(spec, path, errors);
  CheckContainers(spec, {.volumes = volumes, .claims = claims}, path, errors);
  CheckHostNetwork(spec, path, errors);
  CheckChoice(spec, "restartPolicy", kRestart, path, errors);
  CheckChoice(spec, "dnsPolicy", kDns, path, errors);
  CheckLabels(FindObject(spec, {"nodeSelector"}), path + ".nodeSelector", errors);
  CheckAffinity(spec, path, errors);
  CheckReadinessGates(spec, path, errors);
  CheckSchedulingGates(spec, path, errors);
  CheckSpread(spec, path, errors);
  CheckNames(spec, {"serviceAccountName", "nodeName"}, false, path, errors);
  CheckDeadlineRange(spec, path, errors);
  CheckNames(spec, {"hostname", "subdomain"}, true, path, errors);
  CheckTolerations(spec, path, errors);
  CheckNames(spec, {"priorityClassName", "runtimeClassName"}, false, path, errors);
  CheckChoice(spec, "preemptionPolicy", kPreemption, path, errors);
  CheckOverhead(spec, path, errors);
  return errors;
}

FieldErrorList ValidateNewPod(const json::object& pod) {
  static const json::object kEmpty;
  const json::object* spec = FindObject(pod, {"spec"});
  FieldErrorList errors = ValidatePodSpec(spec != nullptr ? *spec : kEmpty, "spec");
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty() && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    ForbidField(errors, "spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
  return errors;
}

}  // namespace berth::sandbox
