#include "cli/conformance/queue_case_plugins.h"

#include <algorithm>
#include <boost/json.hpp>
#include <stdexcept>

#include "cli/conformance/case_json.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

// The part of an object that rules look at.
struct Facts {
  std::string_view name;
  std::string_view uid;
  bool is_pod = false;
  api::StringMap labels;
  api::StringMap annotations;
};

std::string Value(const api::StringMap& map, std::string_view key) {
  const std::string* value = map.find(key);
  return value == nullptr ? std::string() : *value;
}

Facts FactsOf(const api::PodRecord& pod) {
  return {pod.name, pod.uid, true, pod.labels.ToMap(), pod.annotations.ToMap()};
}

std::optional<Facts> FactsOf(const framework::EventObject& object) {
  return std::visit(
      [](const auto& held) -> std::optional<Facts> {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return std::nullopt;
        } else if constexpr (std::is_same_v<Held, const api::PodRecord*>) {
          return FactsOf(*held);
        } else {
          const api::ObjectMeta& meta = held->metadata;
          return Facts{meta.name, meta.uid, false, meta.labels, meta.annotations};
        }
      },
      object);
}

std::optional<Facts> ObjectOf(const framework::EventObject& old_object,
                              const framework::EventObject& new_object) {
  const auto facts = FactsOf(new_object);
  return facts ? facts : FactsOf(old_object);
}

struct HintRule {
  std::string type, key, value, error_value;

  base::Result<framework::Hint> Judge(const framework::HintInput& input) const {
    const auto object = ObjectOf(input.old_object, input.new_object);
    const Facts pod = FactsOf(input.record());
    const bool same_pod = object && object->is_pod && object->uid == pod.uid;
    bool queue = false;
    if (type == "queue") {
      queue = true;
    } else if (type == "error") {
      return base::Fail("hint error");
    } else if (type == "objectLabel") {
      const std::string label = object ? Value(object->labels, key) : std::string();
      if (object && !error_value.empty() && label == error_value) return base::Fail("hint error");
      queue = object && label == value;
    } else if (type == "objectName") {
      queue = object && Value(pod.labels, key) == object->name;
    } else if (type == "samePod") {
      queue = same_pod;
    } else if (type == "samePodLabel") {
      queue = same_pod && Value(object->labels, key) == value;
    } else if (type == "deleted") {
      queue = FactsOf(input.old_object) && !FactsOf(input.new_object);
    } else if (type != "skip") {
      throw std::runtime_error("unknown hint rule " + type);
    }
    return queue ? framework::Hint::kQueue : framework::Hint::kQueueSkip;
  }
};

base::Result<framework::PreHint> JudgePreHint(const std::string& annotation,
                                              const framework::PreHintInput& input) {
  const auto object = ObjectOf(input.old_object, input.new_object);
  std::string rest = object ? Value(object->annotations, annotation) : std::string();
  if (rest == "*") return framework::PreHint{.all_pods = true, .pods = {}};
  if (rest == "!") return base::Fail("pre-hint error");
  framework::PreHint result{.all_pods = false, .pods = {}};
  while (!rest.empty()) {
    const std::string key = rest.substr(0, rest.find(','));
    rest.erase(0, key.size() + 1);
    const std::size_t slash = key.find('/');
    result.pods.emplace_back(key.substr(0, slash), key.substr(slash + 1));
  }
  return result;
}

framework::EventResource ReadResource(std::string_view name) {
  for (auto resource = framework::EventResource::kPod; resource <= framework::EventResource::kWildcard;
       resource = static_cast<framework::EventResource>(static_cast<int>(resource) + 1)) {
    if (framework::ResourceName(resource) == name) return resource;
  }
  throw std::runtime_error("unknown resource " + std::string(name));
}

framework::Actions ReadActions(const json::array& names) {
  framework::Actions actions = 0;
  for (const json::value& name : names) {
    framework::Actions found = 0;
    for (framework::Actions bit = 1; bit < framework::kAllActions; bit <<= 1) {
      if (framework::ActionName(bit) == std::string_view(name.as_string())) found = bit;
    }
    for (const framework::Actions several : {framework::kAllActions, framework::kUpdate}) {
      if (framework::ActionName(several) == std::string_view(name.as_string())) found = several;
    }
    if (found == 0) throw std::runtime_error("unknown action " + std::string(name.as_string()));
    actions |= found;
  }
  return actions;
}

framework::Code ReadCode(const std::string& name) {
  using enum framework::Code;
  for (const framework::Code code :
       {kError, kUnschedulable, kUnschedulableAndUnresolvable, kWait, kSkip, kPending}) {
    if (framework::CodeName(code) == name) return code;
  }
  throw std::runtime_error("unknown code " + name);
}

}  // namespace

framework::ClusterEvent ReadQueueEvent(const json::object& from) {
  return {ReadResource(StringAt(from, "resource")), ReadActions(from.at("actionTypes").as_array())};
}

class QueueCasePlugins::Gate final : public framework::PreEnqueuePoint {
 public:
  explicit Gate(const json::object& rule)
      : type_(StringAt(rule, "type")),
        key_(StringAt(rule, "key")),
        value_(StringAt(rule, "value")),
        status_(ReadCode(StringAt(rule, "code")), StringAt(rule, "message")) {}

  framework::Status PreEnqueue(const framework::WaitingPod& pod) const override {
    const api::PodRecord& record = pod.record();
    const bool rejects = type_ == "schedulingGates"
                             ? !record.spec->spec.scheduling_gates.empty()
                             : !open && record.labels.find(key_).value_or("") == value_;
    return rejects ? status_ : framework::Status();
  }

  bool open = false;

 private:
  std::string type_, key_, value_;
  framework::Status status_;
};

QueueCasePlugins::QueueCasePlugins(const json::object& test_case, const cluster::Cluster& cluster)
    : test_case_(test_case), cluster_(cluster) {}
QueueCasePlugins::~QueueCasePlugins() = default;

std::vector<queue::QueueProfile> QueueCasePlugins::Profiles() {
  std::vector<queue::QueueProfile> profiles;
  for (const json::value& name : test_case_.at("config").at("profiles").as_array()) {
    queue::QueueProfile profile{
        .scheduler_name = std::string(name.as_string()), .pre_enqueue = {}, .events = {}};
    for (const json::value& value : test_case_.at("plugins").as_array()) {
      const json::object& plugin = value.as_object();
      const json::array& own_profiles = plugin.at("profiles").as_array();
      if (std::ranges::find(own_profiles, name) == own_profiles.end()) continue;
      const std::string plugin_name = StringAt(plugin, "name");
      if (const json::value& rule = plugin.at("preEnqueue"); !rule.is_null()) {
        std::unique_ptr<Gate>& gate = gates_[plugin_name];
        if (!gate) gate = std::make_unique<Gate>(rule.as_object());
        profile.pre_enqueue.push_back({.plugin = plugin_name, .point = gate.get()});
        gated_profiles_.insert(profile.scheduler_name);
      }
      profile.events.push_back({plugin_name, Registrations(plugin)});
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<framework::EventRegistration> QueueCasePlugins::Registrations(const json::object& plugin) {
  std::vector<framework::EventRegistration> registrations;
  const json::value* events = ValueAt(plugin, "events");
  if (events == nullptr) return registrations;
  for (const json::value& event : events->as_array()) {
    registrations.push_back(MakeRegistration(StringAt(plugin, "name"), event.as_object()));
  }
  return registrations;
}

framework::EventRegistration QueueCasePlugins::MakeRegistration(const std::string& plugin,
                                                                const json::object& wish) {
  framework::EventRegistration registration{.event = ReadQueueEvent(wish)};
  if (const json::value& hint = wish.at("hint"); !hint.is_null()) {
    const json::object& from = hint.as_object();
    HintRule rule{StringAt(from, "type"), StringAt(from, "key"), StringAt(from, "value"),
                  StringAt(from, "errorValue")};
    registration.hint = [this, plugin, rule = std::move(rule)](const framework::HintInput& input) {
      const std::string pod = cluster::PodName(input.record());
      QueueCalls::Hints& hints = calls_.hints[pod + "|" + plugin];
      hints = {plugin, pod, hints.count + 1};
      return rule.Judge(input);
    };
  }
  if (const json::value& pre_hint = wish.at("preHint"); !pre_hint.is_null()) {
    registration.pre_hint = [this, plugin, annotation = StringAt(pre_hint.as_object(), "annotation")](
                                const framework::PreHintInput& input) {
      ++calls_.pre_hints[plugin];
      return JudgePreHint(annotation, input);
    };
  }
  return registration;
}

void QueueCasePlugins::Toggle(std::string_view plugin, bool open) {
  gates_.find(plugin)->second->open = open;
}

std::string QueueCasePlugins::KeyOf(queue::PodRef pod) const {
  return cluster::PodName(cluster_.pods().record(pod.id));
}

void QueueCasePlugins::OnRejected(queue::PodRef pod, const queue::GateVerdict& verdict) {
  QueueCalls::Pass& pass = calls_.passes[KeyOf(pod)];
  ++pass.count;
  pass.rejected_by = verdict.status.plugin();
}

void QueueCasePlugins::OnPassed(queue::PodRef pod) {
  const std::string& profile = cluster_.pods().record(pod.id).spec->spec.scheduler_name;
  if (gated_profiles_.contains(profile)) ++calls_.passes[KeyOf(pod)].count;
}

}  // namespace berth::cli
