#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <fmt/ranges.h>
#include <memory>
#include <stdexcept>

#include "cli/conformance/case_cluster.h"
#include "cli/conformance/case_json.h"
#include "cli/conformance/case_profile.h"
#include "cli/conformance/cases.h"

#include "framework/events.h"
#include "framework/queue_points.h"
#include "plugins/all_plugins.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

// An API object of some kind, and the pointer to it that events carry.
class HeldObject {
 public:
  HeldObject(const json::value* value, api::SharedParts& shared) {
    if (value == nullptr) return;
    const std::string_view kind = TextAt(value->as_object(), "kind");
    if (kind == "Pod") {
      Hold(RecordOf(*value, shared));
      return;
    }
    const bool known = DecodeAs<api::Node>(kind, "Node", *value) ||
                       DecodeAs<api::PersistentVolume>(kind, "PersistentVolume", *value) ||
                       DecodeAs<api::PersistentVolumeClaim>(kind, "PersistentVolumeClaim", *value) ||
                       DecodeAs<api::CSINode>(kind, "CSINode", *value) ||
                       DecodeAs<api::CSIDriver>(kind, "CSIDriver", *value) ||
                       DecodeAs<api::VolumeAttachment>(kind, "VolumeAttachment", *value) ||
                       DecodeAs<api::CSIStorageCapacity>(kind, "CSIStorageCapacity", *value) ||
                       DecodeAs<api::StorageClass>(kind, "StorageClass", *value) ||
                       DecodeAs<api::ResourceClaim>(kind, "ResourceClaim", *value) ||
                       DecodeAs<api::ResourceSlice>(kind, "ResourceSlice", *value) ||
                       DecodeAs<api::DeviceClass>(kind, "DeviceClass", *value) ||
                       DecodeAs<api::PodGroup>(kind, "PodGroup", *value) ||
                       DecodeAs<api::CompositePodGroup>(kind, "CompositePodGroup", *value);
    if (!known) throw std::runtime_error(fmt::format("an object of the kind {}", kind));
  }

  const framework::EventObject& object() const { return object_; }

 private:
  template <class T>
  bool DecodeAs(std::string_view kind, std::string_view wanted, const json::value& value) {
    if (kind != wanted) return false;
    Hold(std::make_shared<const T>(DecodeObject<T>(value)));
    return true;
  }
  template <class T>
  void Hold(std::shared_ptr<const T> object) {
    object_ = object.get();
    held_ = std::move(object);
  }

  std::shared_ptr<const void> held_;
  framework::EventObject object_;
};

framework::Actions ActionsOf(const json::object& event) {
  framework::Actions actions = 0;
  for (const std::string& name : TextsAt(event, "actionType")) {
    framework::Actions named = 0;
    if (name == "Update") named = framework::kUpdate;
    if (name == "All") named = framework::kAllActions;
    for (framework::Actions bit = 1; named == 0 && bit <= framework::kAllActions; bit <<= 1) {
      if (framework::ActionName(bit) == name) named = bit;
    }
    if (named == 0) throw std::runtime_error(fmt::format("an action called {}", name));
    actions |= named;
  }
  return actions;
}

std::string EventText(std::string_view resource, framework::Actions actions, std::string_view label) {
  return fmt::format("{} {:#x} {}", resource, actions, label);
}
std::string EventText(const framework::ClusterEvent& event) {
  return EventText(framework::ResourceName(event.resource), event.actions, event.Label());
}
std::string EventText(const json::object& event) {
  return EventText(TextAt(event, "resource"), ActionsOf(event), TextAt(event, "label"));
}

std::vector<std::string> EventTexts(const json::object& test_case) {
  std::vector<std::string> texts;
  for (const json::value& event : test_case.at("events").as_array()) {
    texts.push_back(EventText(event.as_object()));
  }
  return texts;
}

Difference CheckClassify(const json::object& test_case) {
  api::SharedParts shared;
  std::vector<framework::ClusterEvent> events;
  const json::value& old_object = test_case.at("oldObj");
  const json::value& new_object = test_case.at("newObj");
  if (TextAt(test_case, "kind") == "Node") {
    events =
        framework::NodeUpdateEvents(DecodeObject<api::Node>(old_object), DecodeObject<api::Node>(new_object));
  } else {
    events = framework::PodUpdateEvents(*RecordOf(old_object, shared), *RecordOf(new_object, shared),
                                        test_case.at("targetPod").as_bool(),
                                        framework::Features::Upstream().ForResources());
  }
  std::vector<std::string> got;
  got.reserve(events.size());
  for (const framework::ClusterEvent& event : events) got.push_back(EventText(event));
  return Compare("events", got, EventTexts(test_case));
}

// One plugin, as the case sets it up.
class HintsCase {
 public:
  explicit HintsCase(const json::object& test_case)
      : case_(test_case),
        registry_(plugins::AllPlugins()),
        made_(ReadCaseProfile(test_case, "default-scheduler", registry_)),
        cluster_({.resources = made_.features.ForResources()}) {
    const std::string_view name = TextAt(test_case, "plugin");
    if (!registry_.Contains(name)) return;
    auto plugin = registry_.Make(name, {made_.features, made_.config.args, cluster_});
    if (!plugin) throw std::runtime_error(plugin.error().message);
    plugin_ = *std::move(plugin);
    const auto* const point = dynamic_cast<const framework::EnqueuePoint*>(plugin_.get());
    if (point != nullptr) registered_ = point->EventsToRegister();
  }

  Difference Check() {
    if (plugin_ == nullptr) {
      return fmt::format("{}{}", kNotDecided, TextAt(case_, "plugin"));
    }
    return TextAt(case_, "type") == "registered" ? CheckRegistered() : CheckHint();
  }

 private:
  Difference CheckRegistered() const {
    std::vector<std::string> got;
    got.reserve(registered_.size());
    for (const framework::EventRegistration& registration : registered_) {
      got.push_back(EventText(registration.event));
    }
    if (auto difference = Compare("events", got, EventTexts(case_))) return difference;
    const json::array& events = case_.at("events").as_array();
    for (std::size_t i = 0; i < registered_.size(); ++i) {
      const json::object& want = events[i].as_object();
      if (auto difference = Compare("hasHintFn of " + got[i], registered_[i].hint != nullptr,
                                    want.at("hasHintFn").as_bool())) {
        return difference;
      }
      // More of them than upstream has are an improvement.
      if (want.at("hasPreHintFn").as_bool() && registered_[i].pre_hint == nullptr) {
        return fmt::format("hasPreHintFn of {}: got false, want true", got[i]);
      }
    }
    return std::nullopt;
  }

  const framework::EventRegistration* FindRegistration() const {
    const std::string wanted = EventText(case_.at("event").as_object());
    const auto found =
        std::ranges::find_if(registered_, [&](const framework::EventRegistration& registration) {
          return EventText(registration.event) == wanted;
        });
    return found == registered_.end() ? nullptr : &*found;
  }

  cluster::PodSlot LoadPod() {
    const cluster::PodRecordRef pod = RecordOf(case_.at("pod"), shared_);
    if (!cluster_.pods().Find(pod->uid).IsValid()) LoadObject(case_.at("pod").as_object(), shared_, cluster_);
    return cluster_.pods().Find(pod->uid);
  }

  Difference CheckHint() {
    const framework::EventRegistration* const registration = FindRegistration();
    if (registration == nullptr) {
      return fmt::format("event: {} is not registered", EventText(case_.at("event").as_object()));
    }
    if (const json::value* const objects = ValueAt(case_, "objects")) {
      LoadObjects(objects->as_array(), shared_, cluster_);
    }
    const cluster::PodSlot pod = LoadPod();
    const HeldObject old_object(ValueAt(case_, "oldObj"), shared_);
    const HeldObject new_object(ValueAt(case_, "newObj"), shared_);
    base::Result<framework::Hint> got = framework::Hint::kQueue;
    if (registration->hint != nullptr) {
      got = registration->hint({cluster_, pod, old_object.object(), new_object.object()});
    }
    if (auto difference = Compare("error", !got.has_value(), ValueAt(case_, "error") != nullptr)) {
      return got ? difference : Difference(fmt::format("{} ({})", *difference, got.error().message));
    }
    const bool queued = !got || *got == framework::Hint::kQueue;
    const std::string_view text = queued ? "Queue" : "QueueSkip";
    if (got && !(queued && MayBecomeTheFirst(*registration, pod))) {
      if (auto difference = Compare<std::string_view>("result", text, TextAt(case_, "result"))) {
        return difference;
      }
    }
    if (registration->pre_hint == nullptr) return std::nullopt;
    return CheckPreHint(registration->pre_hint({cluster_, old_object.object(), new_object.object()}), queued);
  }

  // What berth does otherwise on purpose (docs/differences.md): a pod that meets its own affinity terms is
  // tried when another that meets them goes. Who meets them is asked of the hint for a pod that comes.
  bool MayBecomeTheFirst(const framework::EventRegistration& registration, cluster::PodSlot pod) {
    const json::value* const gone = ValueAt(case_, "oldObj");
    if (TextAt(case_, "plugin") != "InterPodAffinity" || gone == nullptr) return false;
    if (TextAt(gone->as_object(), "kind") != "Pod") return false;
    json::value itself = case_.at("pod");
    itself.as_object()["spec"].as_object()["nodeName"] = "anywhere";
    const auto meets_the_terms = [&](const json::value& other) {
      const HeldObject comes(&other, shared_);
      const auto hint = registration.hint({cluster_, pod, {}, comes.object()});
      return hint && *hint == framework::Hint::kQueue;
    };
    const json::value* const left = ValueAt(case_, "newObj");
    return meets_the_terms(*gone) && !(left != nullptr && meets_the_terms(*left)) && meets_the_terms(itself);
  }

  Difference CheckPreHint(const base::Result<framework::PreHint>& got, bool queued) const {
    if (!got) return std::nullopt;  // as if it said all pods
    std::vector<std::string> names;
    for (const auto& [namespace_, name] : got->pods) names.push_back(fmt::format("{}/{}", namespace_, name));
    std::ranges::sort(names);
    if (const json::value* const want = ValueAt(case_, "preHint")) {
      const json::object& object = want->as_object();
      if (auto difference = Compare("allPods", got->all_pods, object.at("allPods").as_bool()))
        return difference;
      std::vector<std::string> wanted = TextsAt(object, "pods");
      std::ranges::sort(wanted);
      return got->all_pods ? std::nullopt : Compare("pods", names, wanted);
    }
    // Upstream has none here: it must let through every pod that the hint queues.
    const json::object& metadata = case_.at("pod").as_object().at("metadata").as_object();
    const std::string own = fmt::format("{}/{}", TextAt(metadata, "namespace"), TextAt(metadata, "name"));
    if (queued && !got->all_pods && std::ranges::find(names, own) == names.end()) {
      return fmt::format("the pre-hint leaves out {}, which the hint queues", own);
    }
    return std::nullopt;
  }

  const json::object& case_;
  framework::Registry registry_;
  CaseProfile made_;
  api::SharedParts shared_;
  cluster::Cluster cluster_;
  std::unique_ptr<framework::Plugin> plugin_;
  std::vector<framework::EventRegistration> registered_;
};

}  // namespace

std::optional<std::string> CheckHintsCase(const boost::json::object& test_case) {
  try {
    if (TextAt(test_case, "type") == "classify") return CheckClassify(test_case);
    return HintsCase(test_case).Check();
  } catch (const std::exception& error) {
    return fmt::format("cannot read the case: {}", error.what());
  }
}

}  // namespace berth::cli
