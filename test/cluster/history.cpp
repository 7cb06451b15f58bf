#include "cluster/history.h"

#include <algorithm>
#include <string>

#include "support/builders.h"

namespace berth::cluster::test {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;

using berth::test::kHost;
using berth::test::kZone;

std::string NodeName(std::uint8_t n) { return "n" + std::to_string(n % 5); }
std::string NamespaceName(std::uint8_t n) { return "ns" + std::to_string(n % 3); }

NodeRef NodeOf(const Event& event) {
  auto node = MakeNode(NodeName(event.who));
  node.Cpu("4").Memory("8Gi");
  if (event.how % 5 != 0) node.Hostname();
  if (event.where % 4 != 3) node.Zone(event.where % 4 == 2 ? "" : "z" + std::to_string(event.where % 4));
  if (event.how % 3 == 0) node.Label("fast", "yes");
  if (event.how % 7 == 0) node.Taint("gone", "", "NoSchedule");
  if (event.how % 4 == 1) node.Allocatable("example.com/gpu", "2");
  if (event.how % 2 == 0) node.Image("img-" + std::to_string(event.where % 3), event.how);
  return node.Ref();
}

berth::test::PodBuilder PodOf(const Event& event) {
  auto pod = MakePod("p" + std::to_string(event.who % 12));
  // A pod never changes its namespace, so its name decides.
  pod.Namespace(NamespaceName(event.who)).Cpu(std::to_string(event.how % 4) + "00m").Priority(event.how % 3);
  if (event.how % 5 != 0) pod.Label("app", event.how % 2 == 0 ? "a" : "b");
  if (event.how % 7 == 1) pod.Label("tier", "t" + std::to_string(event.who % 2));
  if (event.how % 11 == 2) pod.Request("example.com/gpu", "1");
  if (event.how % 6 == 3) pod.HostPort(80 + event.how % 2);
  if (event.how % 4 == 2) pod.VolumeClaim("claim" + std::to_string(event.how % 3)).VolumeClaim("data");
  if (event.how % 9 == 4) pod.Terminating();
  if (event.how % 8 == 5) pod.AntiAffinity(MakeTerm(kHost).Label("app", "a"));
  if (event.how % 8 == 6) {
    pod.Affinity(MakeTerm(kZone).Label("app", "b"));
    pod.PreferAntiAffinity(3, MakeTerm(kZone)
                                  .Selector(MakeSelector())
                                  .NamespaceSelector(MakeSelector().Expression("team", "NotIn", {"x"})));
  }
  if (event.how % 8 == 7) {
    const auto term =
        MakeTerm(kZone).Selector(MakeSelector().Expression("tier", "Exists")).Namespaces({"ns0", "ns2"});
    pod.PreferAffinity(2, term).PreferAffinity(2, term);
  }
  return pod;
}

NaiveModel::Pod* Existing(NaiveModel& model, const Event& event) {
  const auto found = model.pods.find("uid-p" + std::to_string(event.who % 12));
  return found == model.pods.end() ? nullptr : &found->second;
}

void ApplyPending(const Event& event, Cluster& cluster, NaiveModel& model) {
  const PodRecordRef record = PodOf(event).Record();
  NaiveModel::Pod* pod = Existing(model, event);
  const bool fits = pod == nullptr || pod->state == PodState::kPending;
  RC_ASSERT(cluster.SetPending(record).has_value() == fits);
  if (fits) model.pods[record->uid] = {record, PodState::kPending, ""};
}

void ApplyAdd(const Event& event, Cluster& cluster, NaiveModel& model) {
  const std::string node = NodeName(event.where);
  const PodRecordRef record = PodOf(event).Node(node).Record();
  NaiveModel::Pod* pod = Existing(model, event);
  const bool fits = pod == nullptr || pod->state != PodState::kAdded;
  RC_ASSERT(cluster.AddPod(record).has_value() == fits);
  if (!fits) return;
  model.ClearNomination(record->uid);
  model.pods[record->uid] = {record, PodState::kAdded, node};
}

void ApplyUpdate(const Event& event, Cluster& cluster, NaiveModel& model) {
  NaiveModel::Pod* pod = Existing(model, event);
  // Mostly on the node where it is; sometimes the impossible happens.
  const std::string node = pod != nullptr && event.where % 8 != 0 ? pod->node : NodeName(event.where);
  const PodRecordRef record = PodOf(event).Node(node).Record();
  const bool added = pod != nullptr && pod->state == PodState::kAdded;
  RC_ASSERT(cluster.UpdatePod(record).has_value() == (added && pod->node == node));
  if (added) *pod = {record, PodState::kAdded, node};
}

void ApplyRemove(const Event& event, Cluster& cluster, NaiveModel& model) {
  NaiveModel::Pod* pod = Existing(model, event);
  if (pod == nullptr) {
    RC_ASSERT(!cluster.RemovePod(*PodOf(event).Record()).has_value());
    return;
  }
  const std::string uid = pod->record->uid;
  if (pod->state == PodState::kPending) {
    RC_ASSERT(!cluster.RemovePod(*pod->record).has_value());
    RC_ASSERT(cluster.RemovePending(uid).has_value());
  } else {
    api::PodRecord last = *pod->record;
    last.node_name = event.how % 2 == 0 ? pod->node : "";
    RC_ASSERT(!cluster.RemovePending(uid).has_value());
    RC_ASSERT(cluster.RemovePod(last).has_value());
  }
  model.ClearNomination(uid);
  model.pods.erase(uid);
}

void ApplyAssume(const Event& event, Cluster& cluster, NaiveModel& model) {
  NaiveModel::Pod* pod = Existing(model, event);
  if (pod == nullptr) return;
  const std::string node = NodeName(event.where);
  const bool fits = pod->state == PodState::kPending;
  RC_ASSERT(cluster.Assume(cluster.pods().Find(pod->record->uid), node).has_value() == fits);
  if (!fits) return;
  model.ClearNomination(pod->record->uid);
  pod->state = PodState::kAssumed;
  pod->node = node;
}

void ApplyForget(const Event& event, Cluster& cluster, NaiveModel& model) {
  NaiveModel::Pod* pod = Existing(model, event);
  if (pod == nullptr) return;
  const std::string uid = pod->record->uid;
  const bool here = event.where % 4 != 0;
  const std::string node = here ? pod->node : "elsewhere";
  const bool fits = pod->state == PodState::kPending || (pod->state == PodState::kAssumed && here);
  if (event.how % 2 == 0) {
    RC_ASSERT(cluster.Forget(uid, node).has_value() == fits);
    if (!fits) return;
    pod->state = PodState::kPending;
    pod->node.clear();
  } else {
    RC_ASSERT(cluster.RemoveAssumed(uid, node).has_value() == fits);
    if (fits && pod->state == PodState::kAssumed) model.pods.erase(uid);
  }
}

void ApplyNominate(const Event& event, Cluster& cluster, NaiveModel& model) {
  NaiveModel::Pod* pod = Existing(model, event);
  if (pod == nullptr) return;
  const std::string node = event.how % 4 == 0 ? "" : NodeName(event.where);
  cluster.Nominate(cluster.pods().Find(pod->record->uid), node);
  model.ClearNomination(pod->record->uid);
  if (!node.empty() && pod->state == PodState::kPending)
    model.nominations.emplace_back(pod->record->uid, node);
}

void ApplyNamespace(const Event& event, Cluster& cluster, NaiveModel& model) {
  const std::string name = NamespaceName(event.who);
  if (event.how % 3 == 0) {
    cluster.RemoveNamespace(name);
    model.namespaces.erase(name);
    return;
  }
  api::Namespace object;
  object.metadata.name = name;
  object.metadata.labels = {{"team", event.how % 3 == 1 ? "x" : "y"}};
  cluster.SetNamespace(object);
  model.namespaces[name] = object.metadata.labels;
}

}  // namespace

rc::Gen<History> AnyHistory() {
  return rc::gen::scale(3.0, rc::gen::container<History>(rc::gen::build<Event>(
                                 rc::gen::set(&Event::kind), rc::gen::set(&Event::who),
                                 rc::gen::set(&Event::where), rc::gen::set(&Event::how))));
}

void Apply(const Event& event, Cluster& cluster, NaiveModel& model) {
  switch (event.kind % 16) {
    case 0:
    case 1:
    case 2: {
      const NodeRef node = NodeOf(event);
      cluster.SetNode(node);
      model.SetNode(node);
      break;
    }
    case 3: {
      const auto node = NodeOf(event);
      RC_ASSERT(cluster.RemoveNode(*node).has_value() == model.nodes.contains(node->metadata.name));
      model.RemoveNode(node->metadata.name);
      break;
    }
    case 4:
    case 5:
      return ApplyPending(event, cluster, model);
    case 6:
    case 7:
    case 8:
      return ApplyAdd(event, cluster, model);
    case 9:
      return ApplyUpdate(event, cluster, model);
    case 10:
      return ApplyRemove(event, cluster, model);
    case 11:
    case 12:
      return ApplyAssume(event, cluster, model);
    case 13:
      return ApplyForget(event, cluster, model);
    case 14:
      return ApplyNominate(event, cluster, model);
    case 15:
      return ApplyNamespace(event, cluster, model);
  }
}

void ApplySpeculatively(const Event& event, Cluster& cluster, Speculation& speculation) {
  const PodSlot pod = cluster.pods().Find("uid-p" + std::to_string(event.who % 12));
  const NodeRow row = cluster.nodes().Find(NodeName(event.where));
  if (!pod.IsValid()) return;
  if (event.kind % 4 == 0) {
    cluster.Nominate(pod, event.how % 3 == 0 ? "" : NodeName(event.where));
  } else if (cluster.pods().row(pod).IsValid()) {
    speculation.Displace(pod);
  } else if (row.IsValid()) {
    speculation.Place(pod, row);
  }
}

void RemoveEverything(Cluster& cluster, NaiveModel& model) {
  for (const auto& [uid, pod] : model.pods) {
    if (pod.state == PodState::kPending) {
      RC_ASSERT(cluster.RemovePending(uid).has_value());
    } else {
      api::PodRecord last = *pod.record;
      last.node_name = pod.node;
      RC_ASSERT(cluster.RemovePod(last).has_value());
    }
  }
  for (const auto& [name, node] : model.nodes) RC_ASSERT(cluster.RemoveNode(*node).has_value());
  for (const auto& [name, labels] : model.namespaces) cluster.RemoveNamespace(name);
  model = {};
}

const std::vector<NaiveModel::Question>& Questions() {
  static const std::vector<NaiveModel::Question> kQuestions = [] {
    const auto compile = [](const api::LabelSelector& selector) { return *api::Selector::Compile(selector); };
    const api::Selector app_a = compile(MakeSelector().Label("app", "a"));
    const api::Selector any_app = compile(MakeSelector().Expression("app", "In", {"a", "b"}));
    const api::Selector not_a = compile(MakeSelector().Expression("app", "NotIn", {"a"}));
    const api::Selector has_tier = compile(MakeSelector().Expression("tier", "Exists"));
    const api::Selector nothing = api::Selector::Nothing();
    const api::Selector team_x = compile(MakeSelector().Label("team", "x"));
    const api::Selector not_x = compile(MakeSelector().Expression("team", "NotIn", {"x"}));
    const CountRules spread{.skip_terminating = true, .everything_is_zero = true};
    const auto in = [&](const api::Selector& selector, std::vector<std::string> namespaces) {
      return PodCondition{selector, std::move(namespaces), nothing, UnknownNamespace::kNeverSelected};
    };
    const auto where = [&](const api::Selector& selector, const api::Selector& ns, UnknownNamespace unknown) {
      return PodCondition{selector, {}, ns, unknown};
    };
    return std::vector<NaiveModel::Question>{
        {{in(app_a, {"ns0"})}, spread, kZone, ""},
        {{in(app_a, {"ns0"})}, spread, kZone, "fast"},
        {{in(app_a, {"ns0"})}, {}, kHost, ""},
        {{in({}, {"ns0", "ns1"})}, spread, kZone, ""},
        {{in({}, {"ns0", "ns1"})}, {}, kZone, "fast"},
        {{in(any_app, {"ns1", "ns2", "ns1", "ns1"})}, {}, kHost, "fast"},
        {{in(has_tier, {"ns1", "ns2"}), in(not_a, {"ns2"})}, {}, kZone, ""},
        {{where(not_a, {}, UnknownNamespace::kNeverSelected)}, {}, kZone, ""},
        {{where(app_a, team_x, UnknownNamespace::kNeverSelected)}, {}, kZone, ""},
        {{where(app_a, not_x, UnknownNamespace::kNeverSelected)}, {}, kZone, ""},
        {{where(has_tier, not_x, UnknownNamespace::kHasNoLabels)}, spread, kHost, "fast"},
        {{in(nothing, {"ns0"})}, {}, kZone, ""},
    };
  }();
  return kQuestions;
}

}  // namespace berth::cluster::test
