#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cli/conformance/case_json.h"
#include "cli/conformance/cases.h"
#include "client/pod_status_patch.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "dispatch/dispatcher.h"

namespace berth::cli {
namespace {

namespace json = boost::json;
using Difference = std::optional<std::string>;

std::string PodName(std::string_view uid) { return "pod-" + std::string(uid); }

std::vector<api::PodCondition> Conditions(const json::object& holder) {
  std::vector<api::PodCondition> conditions;
  if (const json::value* const list = ValueAt(holder, "conditions")) {
    for (const json::value& value : list->as_array())
      conditions.push_back(DecodeObject<api::PodCondition>(value));
  }
  return conditions;
}

cluster::PodRecordRef Pod(std::string_view uid, const json::value* status) {
  api::PodRecord record;
  record.namespace_ = "a";
  record.name = PodName(uid);
  record.uid = uid;
  if (status != nullptr) {
    record.nominated_node_name = TextAt(status->as_object(), "nominatedNodeName");
    record.SetConditions(Conditions(status->as_object()));
    std::vector<std::string> types;
    for (const api::PodCondition& condition : record.conditions()) types.push_back(condition.type);
    if (!types.empty())
      record.condition_types = std::make_shared<const std::vector<std::string>>(std::move(types));
  }
  return std::make_shared<const api::PodRecord>(std::move(record));
}

// What a case nominates; nothing for "no change".
std::optional<std::string> Nominating(const json::object& holder) {
  const json::value* const nominating = ValueAt(holder, "nominating");
  if (nominating == nullptr || TextAt(nominating->as_object(), "mode") != "override") return std::nullopt;
  return std::string(TextAt(nominating->as_object(), "node"));
}

// Times are of the run that was recorded.
void DropTransitionTimes(json::value& value) {
  if (value.is_array()) {
    for (json::value& element : value.as_array()) DropTransitionTimes(element);
  } else if (value.is_object()) {
    value.as_object().erase("lastTransitionTime");
    for (auto& [key, member] : value.as_object()) DropTransitionTimes(member);
  }
}

// Runs one case and compares the whole state after each step. What kube-scheduler's SyncObject returns
// ("synced") is not compared: nobody reads it there either.
class DispatchCase {
 public:
  Difference Run(const json::object& test_case) {
    const json::array& steps = test_case.at("steps").as_array();
    const json::array& expected = test_case.at("expect").as_array();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ended_.clear();
      error_.clear();
      request_ = nullptr;
      started_ = 0;
      Do(steps[i].as_object());
      if (Difference difference = CompareState(expected[i].as_object())) {
        return fmt::format("step {} ({}): {}", i, TextAt(steps[i].as_object(), "op"), *difference);
      }
    }
    return std::nullopt;
  }

 private:
  void Do(const json::object& step) {
    const std::string_view op = TextAt(step, "op");
    if (op == "add") Add(step);
    if (op == "start") Start(ValueAt(step, "fail") != nullptr && step.at("fail").as_bool());
    if (op == "finish") Finish(std::string(TextAt(step, "uid")));
    if (op == "sync") dispatcher_.Sync(Pod(TextAt(step, "uid"), ValueAt(step, "podStatus")));
  }

  void Add(const json::object& step) {
    const std::int64_t id = step.at("id").as_int64();
    const bool is_binding = TextAt(step, "type") == "pod_binding";
    dispatch::Call call{
        .type = is_binding ? dispatch::CallType::kPodBinding : dispatch::CallType::kPodStatusPatch,
        .pod = Pod(TextAt(step, "uid"), ValueAt(step, "podStatus")),
        .node = std::string(TextAt(step, "node")),
        .change = {.conditions = Conditions(step), .nominated_node_name = Nominating(step)}};
    call.on_finish = [this, id](const dispatch::CallOutcome& outcome) {
      ended_.emplace_back(id, outcome.end == dispatch::CallEnd::kSucceeded ? "success" : outcome.message);
    };
    const auto added = dispatcher_.Add(std::move(call));
    if (added) {
      ids_[added->value()] = id;
    } else {
      error_ = added.error().message;
    }
  }

  void Start(bool fails) {
    const auto started = dispatcher_.Start();
    if (!started) return;
    const dispatch::Call& call = *started->call;
    started_ = ids_.at(started->id.value());
    in_flight_[call.pod->uid] = {started->id, fails && started->needs_request};
    if (!started->needs_request) return;
    if (call.type == dispatch::CallType::kPodBinding) {
      request_ = json::object{
          {"name", call.pod->name}, {"node", call.node}, {"subresource", "binding"}, {"verb", "create"}};
      return;
    }
    json::value patch = json::parse(client::PodStatusPatch(*call.pod, call.change, {}, started->nomination));
    DropTransitionTimes(patch);
    request_ = json::object{
        {"name", call.pod->name}, {"patch", patch}, {"subresource", "status"}, {"verb", "patch"}};
  }

  void Finish(const std::string& uid) {
    const auto [id, fails] = in_flight_.at(uid);
    in_flight_.erase(uid);
    dispatcher_.Finish(id, fails ? base::Result<void>(base::Fail("injected failure")) : base::Result<void>());
  }

  Difference CompareState(const json::object& want) const {
    if (auto d = Compare("queue", fmt::format("{}", dispatcher_.Queue()),
                         fmt::format("{}", TextsAt(want, "queue"))))
      return d;
    std::vector<std::string> in_flight;
    in_flight.reserve(in_flight_.size());
    for (const auto& [uid, call] : in_flight_) in_flight.push_back(uid);
    if (auto d =
            Compare("inFlight", fmt::format("{}", in_flight), fmt::format("{}", TextsAt(want, "inFlight"))))
      return d;
    if (auto d = CompareCalls(want)) return d;
    if (auto d = Compare("error", error_, std::string(TextAt(want, "error")))) return d;
    if (auto d = CompareEnds(want)) return d;
    const json::value* const started = ValueAt(want, "started");
    if (auto d = Compare("started", started_, started == nullptr ? std::int64_t{0} : started->as_int64()))
      return d;
    const json::value* const request = ValueAt(want, "request");
    const json::value wanted_request = request == nullptr ? json::value() : *request;
    if (wanted_request == request_) return std::nullopt;
    return fmt::format("request: got {}, want {}", json::serialize(request_),
                       json::serialize(wanted_request));
  }

  Difference CompareEnds(const json::object& want) const {
    std::vector<std::pair<std::int64_t, std::string>> wanted;
    if (const json::value* const finished = ValueAt(want, "finished")) {
      for (const json::value& end : finished->as_array()) {
        wanted.emplace_back(end.as_object().at("id").as_int64(), TextAt(end.as_object(), "result"));
      }
    }
    std::ranges::sort(wanted);
    auto got = ended_;
    std::ranges::sort(got);
    return Compare("finished", fmt::format("{}", got), fmt::format("{}", wanted));
  }

  Difference CompareCalls(const json::object& want) const {
    std::vector<std::string> got;
    for (const auto& listed : dispatcher_.List()) {
      const dispatch::Call& call = *listed.call;
      got.push_back(Describe(listed.uid, ids_.at(listed.id.value()), dispatch::CallTypeName(call.type),
                             call.change.conditions, call.change.nominated_node_name));
    }
    std::vector<std::string> wanted;
    for (const auto& [uid, value] : want.at("calls").as_object()) {
      const json::object& call = value.as_object();
      wanted.push_back(
          Describe(uid, call.at("id").as_int64(), TextAt(call, "type"), Conditions(call), Nominating(call)));
    }
    std::ranges::sort(wanted);
    std::ranges::sort(got);
    return Compare("calls", fmt::format("{}", got), fmt::format("{}", wanted));
  }

  static std::string Describe(std::string_view uid, std::int64_t id, std::string_view type,
                              const std::vector<api::PodCondition>& conditions,
                              const std::optional<std::string>& nominating) {
    std::string text = fmt::format("{} {} {}", uid, id, type);
    for (const api::PodCondition& c : conditions) {
      text += fmt::format(" {}={}/{}/{}", c.type, c.status, c.reason, c.message);
    }
    if (nominating) text += " ->" + *nominating;
    return text;
  }

  struct InFlight {
    dispatch::CallId id;
    bool fails;
  };

  base::VirtualClock clock_;
  base::MetricRegistry registry_;
  dispatch::DispatchMetrics metrics_{registry_};
  dispatch::Dispatcher dispatcher_{{.upstream_rules = true}, {.clock = clock_, .metrics = metrics_}};
  std::map<std::uint32_t, std::int64_t> ids_;  // of the case, by ours
  std::map<std::string, InFlight> in_flight_;
  // Of the current step.
  std::vector<std::pair<std::int64_t, std::string>> ended_;
  std::string error_;
  std::int64_t started_ = 0;
  json::value request_;
};

}  // namespace

Difference CheckDispatchCase(const json::object& test_case) {
  try {
    return DispatchCase().Run(test_case);
  } catch (const std::exception& error) {
    return fmt::format("the case cannot be read: {}", error.what());
  }
}

}  // namespace berth::cli
