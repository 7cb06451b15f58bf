#include <array>
#include <fmt/format.h>
#include <utility>

#include "base/go_duration.h"
#include "bench/field_reader.h"
#include "bench/operations.h"
#include "net/http_message.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// How the fields of one operation are read; what is wrong is told to the reader.
using Parser = Action (*)(FieldReader&);

void ReadCount(FieldReader& fields, Count& count, std::string_view name = "count") {
  fields.Read(name, count.value);
  const std::string param_name = std::string(name) + "Param";
  fields.Read(param_name, count.param);
  // The $ is checked here; what it names is not known yet.
  const bool is_param = count.param.starts_with('$') && count.param.size() > 1;
  if (!count.param.empty() ? !is_param : count.number() < 0) {
    fields.Refuse(count.param.empty() ? name : std::string_view(param_name), InvalidCountText(name, count));
  }
}

void ReadDuration(FieldReader& fields, base::Duration& duration, std::string& param) {
  std::string text;
  fields.Read("duration", text);
  fields.Read("durationParam", param);
  if (text.empty()) return;
  if (const auto parsed = base::ParseGoDuration(text)) {
    duration = *parsed;
  } else {
    fields.Refuse("duration", parsed.error().message);
  }
}

void ReadRequired(FieldReader& fields, std::string_view name, std::string& out) {
  fields.Read(name, out);
  if (out.empty()) fields.Refuse(name, "must be set");
}

// A part of an operation that is an object of its own.
template <class Read>
bool ReadPart(FieldReader& fields, std::string_view name, Read read) {
  const json::value* const value = fields.Take(name);
  if (value == nullptr) return false;
  FieldReader part(*value);
  read(part);
  if (const auto finished = part.Finish(); !finished) fields.Refuse(name, finished.error().message);
  return true;
}

LimitVolumes ReadVolumeLimits(FieldReader& part) {
  LimitVolumes strategy;
  part.Read("nodeAllocatable", strategy.node_allocatable);
  part.Read("migratedPlugins", strategy.migrated_plugins);
  json::object drivers;
  part.Read("csiNodeAllocatable", drivers);
  for (const auto& [driver, limit] : drivers) {
    FieldReader fields(limit);
    fields.Read("count", strategy.driver_counts[driver]);
    if (const auto finished = fields.Finish(); !finished) {
      part.Refuse(fmt::format("csiNodeAllocatable.{}", std::string_view(driver)), finished.error().message);
    }
  }
  return strategy;
}

NodeStrategy ReadNodeStrategy(FieldReader& fields) {
  NodeStrategy strategy;
  // All are read, so that mistakes in any are found; the first one counts.
  const auto set = [&](NodeStrategy read) {
    if (std::holds_alternative<std::monostate>(strategy)) strategy = std::move(read);
  };
  ReadPart(fields, "nodeAllocatableStrategy", [&](FieldReader& part) { set(ReadVolumeLimits(part)); });
  ReadPart(fields, "labelNodePrepareStrategy", [&](FieldReader& part) {
    LabelNodes labels;
    part.Read("labelKey", labels.key);
    part.Read("labelValues", labels.values);
    if (labels.values.empty()) part.Refuse("labelValues", "must not be empty");
    set(std::move(labels));
  });
  ReadPart(fields, "uniqueNodeLabelStrategy", [&](FieldReader& part) {
    LabelNodesUniquely labels;
    part.Read("labelKey", labels.key);
    set(std::move(labels));
  });
  return strategy;
}

Action ParseCreateNodes(FieldReader& fields) {
  CreateNodes op;
  ReadCount(fields, op.count);
  fields.Read("nodeTemplatePath", op.template_path);
  op.strategy = ReadNodeStrategy(fields);
  fields.Read("templateParams", op.template_params);
  return op;
}

Action ParseCreateNamespaces(FieldReader& fields) {
  CreateNamespaces op;
  fields.Read("prefix", op.prefix);
  ReadCount(fields, op.count);
  fields.Read("namespaceTemplatePath", op.template_path);
  return op;
}

CreatePods ReadCreatePods(FieldReader& fields) {
  CreatePods op;
  ReadCount(fields, op.count);
  fields.Read("countMultiplierParam", op.count_multiplier_param);
  if (!op.count_multiplier_param.empty() && !op.count_multiplier_param.starts_with('$')) {
    fields.Refuse("countMultiplierParam",
                  fmt::format("invalid CountMultiplierParam=\"{}\"", op.count_multiplier_param));
  }
  fields.Read("namespace", op.namespace_name);
  fields.Read("podTemplatePath", op.template_path);
  fields.Read("persistentVolumeTemplatePath", op.volume_template_path);
  fields.Read("persistentVolumeClaimTemplatePath", op.claim_template_path);
  fields.Read("collectMetrics", op.collect_metrics);
  fields.Read("skipWaitToCompletion", op.skip_wait);
  fields.Read("steadyState", op.steady_state);
  fields.Read("steadyStateParam", op.steady_state_param);
  ReadDuration(fields, op.duration, op.duration_param);
  fields.Read("templateParams", op.template_params);
  ReadCount(fields, op.signature_batch_size, "signatureBatchSize");
  if (op.collect_metrics && op.skip_wait) {
    fields.Refuse("skipWaitToCompletion",
                  "collectMetrics and skipWaitToCompletion cannot be true at the same time");
  }
  if (op.skip_wait && op.steady_state) {
    fields.Refuse("steadyState", "skipWaitToCompletion and steadyState cannot be true at the same time");
  }
  return op;
}

Action ParseCreatePods(FieldReader& fields) { return ReadCreatePods(fields); }

Action ParseCreatePodSets(FieldReader& fields) {
  CreatePodSets op;
  ReadCount(fields, op.count);
  fields.Read("namespacePrefix", op.namespace_prefix);
  ReadPart(fields, "createPodsOp", [&](FieldReader& part) {
    part.Take("opcode");
    op.pods = ReadCreatePods(part);
  });
  return op;
}

Action ParseCreatePodGroups(FieldReader& fields) {
  CreatePodGroups op;
  ReadRequired(fields, "namespace", op.namespace_name);
  ReadRequired(fields, "templatePath", op.template_path);
  ReadCount(fields, op.count);
  if (op.count.param.empty() && op.count.number() <= 0) {
    fields.Refuse("count", fmt::format("count must be greater than 0, got {}", op.count.number()));
  }
  fields.Read("templateParams", op.template_params);
  return op;
}

Action ParseCreateResourceClaims(FieldReader& fields) {
  CreateResourceClaims op;
  ReadRequired(fields, "namespace", op.namespace_name);
  ReadRequired(fields, "templatePath", op.template_path);
  ReadCount(fields, op.count);
  return op;
}

Action ParseAllocateResourceClaims(FieldReader& fields) {
  AllocateResourceClaims op;
  fields.Read("namespace", op.namespace_name);
  return op;
}

Action ParseCreateAny(FieldReader& fields) {
  CreateAny op;
  ReadRequired(fields, "templatePath", op.template_path);
  fields.Read("namespace", op.namespace_name);
  ReadCount(fields, op.count);
  fields.Read("templateParams", op.template_params);
  return op;
}

Action ParseUpdateAny(FieldReader& fields) {
  UpdateAny op;
  ReadRequired(fields, "templatePath", op.template_path);
  fields.Read("namespace", op.namespace_name);
  ReadCount(fields, op.count);
  fields.Read("updatePerSecond", op.updates_per_second);
  if (op.updates_per_second < 0) {
    fields.Refuse("updatePerSecond",
                  fmt::format("invalid UpdatePerSecond={}; should be non-negative", op.updates_per_second));
  }
  fields.Read("subresources", op.subresources);
  return op;
}

Action ParseDeletePods(FieldReader& fields) {
  DeletePods op;
  fields.Read("namespace", op.namespace_name);
  fields.Read("labelSelector", op.labels);
  fields.Read("deletePodsPerSecond", op.deletes_per_second);
  if (op.deletes_per_second < 0) {
    fields.Refuse("deletePodsPerSecond", fmt::format("invalid DeletePodsPerSecond={}; should be non-negative",
                                                     op.deletes_per_second));
  }
  fields.Read("skipWaitToCompletion", op.skip_wait);
  return op;
}

Action ParseChurn(FieldReader& fields) {
  Churn op;
  std::string mode;
  fields.Read("mode", mode);
  op.recreate = mode == "recreate";
  if (!op.recreate && mode != "create") {
    fields.Refuse("mode", fmt::format("invalid mode: {}. must be one of [recreate create]", mode));
  }
  fields.Read("number", op.number);
  if (op.number < 0) fields.Refuse("number", fmt::format("number ({}) cannot be negative", op.number));
  if (op.recreate && op.number == 0) fields.Refuse("number", "number cannot be 0 when mode is recreate");
  fields.Read("intervalMilliseconds", op.interval_milliseconds);
  if (op.interval_milliseconds == 0) op.interval_milliseconds = 500;
  if (op.interval_milliseconds < 0) fields.Refuse("intervalMilliseconds", "cannot be negative");
  fields.Read("namespace", op.namespace_name);
  fields.Read("templatePaths", op.template_paths);
  if (op.template_paths.empty()) {
    fields.Refuse("templatePaths", "at least one template spec file needs to be specified");
  }
  return op;
}

Action ParseBarrier(FieldReader& fields) {
  Barrier op;
  fields.Read("namespaces", op.namespaces);
  fields.Read("labelSelector", op.labels);
  std::string stage;
  fields.Read("stageRequirement", stage);
  op.attempted_suffices = stage == "Attempted";
  if (!op.attempted_suffices && !stage.empty() && stage != "Scheduled") {
    fields.Refuse("stageRequirement", "invalid StageRequirement " + stage);
  }
  return op;
}

Action ParseSleep(FieldReader& fields) {
  Sleep op;
  ReadDuration(fields, op.duration, op.duration_param);
  return op;
}

Action ParseStartCollectingMetrics(FieldReader& fields) {
  StartCollectingMetrics op;
  fields.Read("name", op.name);
  fields.Read("namespaces", op.namespaces);
  if (op.namespaces.empty()) fields.Refuse("namespaces", "namespaces cannot be empty");
  fields.Read("labelSelector", op.labels);
  return op;
}

Action ParseStopCollectingMetrics(FieldReader&) { return StopCollectingMetrics{}; }

void ReadProfileType(FieldReader& fields) {
  std::string type;
  fields.Read("type", type);
  if (!net::EqualsIgnoringCase(type, "CPU")) {
    fields.Refuse("type", fmt::format("only CPU profile type is supported, got \"{}\"", type));
  }
}

Action ParseStartCollectingProfile(FieldReader& fields) {
  StartCollectingProfile op;
  ReadProfileType(fields);
  ReadRequired(fields, "filePath", op.file_path);
  return op;
}

Action ParseStopCollectingProfile(FieldReader& fields) {
  ReadProfileType(fields);
  return StopCollectingProfile{};
}

constexpr std::array<std::pair<std::string_view, Parser>, 17> kParsers = {{
    {"allocResourceClaims", ParseAllocateResourceClaims},
    {"barrier", ParseBarrier},
    {"churn", ParseChurn},
    {"createAny", ParseCreateAny},
    {"createNamespaces", ParseCreateNamespaces},
    {"createNodes", ParseCreateNodes},
    {"createPodGroups", ParseCreatePodGroups},
    {"createPodSets", ParseCreatePodSets},
    {"createPods", ParseCreatePods},
    {"createResourceClaims", ParseCreateResourceClaims},
    {"deletePods", ParseDeletePods},
    {"sleep", ParseSleep},
    {"startCollectingMetrics", ParseStartCollectingMetrics},
    {"startCollectingProfile", ParseStartCollectingProfile},
    {"stopCollectingMetrics", ParseStopCollectingMetrics},
    {"stopCollectingProfile", ParseStopCollectingProfile},
    {"updateAny", ParseUpdateAny},
}};

}  // namespace

std::string InvalidCountText(std::string_view field, const Count& count) {
  std::string shown(field);
  shown[0] = static_cast<char>(shown[0] - 'a' + 'A');
  return fmt::format("invalid {}={} / {}Param=\"{}\"", shown, count.number(), shown, count.param);
}

base::Result<Operation> ParseOperation(const json::value& value) {
  if (!value.is_object()) return base::Fail("expected an object");
  FieldReader fields(value);
  Operation operation;
  fields.Read("opcode", operation.opcode);
  for (const auto& [opcode, parse] : kParsers) {
    if (opcode != operation.opcode) continue;
    operation.action = parse(fields);
    if (auto finished = fields.Finish(); !finished) return std::unexpected(std::move(finished.error()));
    return operation;
  }
  return FailIn("opcode",
                fmt::format("unknown opcode \"{}\" in {}", operation.opcode, wire::WriteJson(value)));
}

bool CollectsMetrics(const Operation& operation) {
  if (const auto* const pods = std::get_if<CreatePods>(&operation.action)) return pods->collect_metrics;
  if (const auto* const sets = std::get_if<CreatePodSets>(&operation.action)) {
    return sets->pods.collect_metrics;
  }
  return std::holds_alternative<StopCollectingMetrics>(operation.action);
}

}  // namespace berth::bench
