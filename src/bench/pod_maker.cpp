#include "bench/pod_maker.h"

#include <fmt/format.h>
#include <utility>

#include "sandbox/document.h"
#include "sandbox/kinds.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

const sandbox::Resource& Pods() { return sandbox::ResourceOf("v1", "Pod"); }

json::object PlainPod() {
  const json::object amounts{{"cpu", "100m"}, {"memory", "500Mi"}};
  json::object container{{"name", "pause"},
                         {"image", "registry.k8s.io/pause:3.10.2"},
                         {"ports", json::array{json::object{{"containerPort", 80}}}},
                         {"resources", json::object{{"limits", amounts}, {"requests", amounts}}}};
  return {{"metadata", json::object{{"generateName", "pod-"}}},
          {"spec", json::object{{"containers", json::array{std::move(container)}}}}};
}

base::Result<std::optional<ObjectTemplate>> LoadOptional(const std::filesystem::path& folder,
                                                         const std::string& path,
                                                         const sandbox::Resource& kind, bool expands) {
  if (path.empty()) return std::nullopt;
  auto loaded = ObjectTemplate::Load(folder / path, kind.message, expands);
  if (!loaded) return std::unexpected(std::move(loaded.error()));
  return *std::move(loaded);
}

}  // namespace

json::object TemplateData(const json::object& params, std::int64_t index, std::optional<std::int64_t> count) {
  json::object data = params;
  data["Index"] = index;
  if (count) data["Count"] = *count;
  return data;
}

base::Error RequestError(std::string_view what, const sandbox::StatusError& error) {
  return {fmt::format("{}: {}", what, error.message)};
}

base::Result<PodMaker> PodMaker::Make(const CreatePods& op, const std::filesystem::path& folder,
                                      const std::string& default_template) {
  PodMaker maker;
  maker.params_ = op.template_params;
  maker.signature_batch_size_ = op.signature_batch_size.number(1);
  const std::string& path = op.template_path.empty() ? default_template : op.template_path;
  auto pod = LoadOptional(folder, path, Pods(), /*expands=*/true);
  if (!pod) return std::unexpected(std::move(pod.error()));
  maker.pod_ = *std::move(pod);
  if (op.claim_template_path.empty()) return maker;
  auto claim = LoadOptional(folder, op.claim_template_path,
                            sandbox::ResourceOf("v1", "PersistentVolumeClaim"), /*expands=*/false);
  if (!claim) return std::unexpected(std::move(claim.error()));
  maker.claim_ = *std::move(claim);
  auto volume = LoadOptional(folder, op.volume_template_path, sandbox::ResourceOf("v1", "PersistentVolume"),
                             /*expands=*/false);
  if (!volume) return std::unexpected(std::move(volume.error()));
  if (!*volume) return base::Fail("a claim template needs a volume template");
  maker.volume_ = *std::move(volume);
  return maker;
}

base::Result<json::object> PodMaker::Pod(std::int64_t index, std::int64_t count) const {
  if (!pod_) return PlainPod();
  auto pod = pod_->Make(TemplateData(params_, index, count));
  // A label of its own makes the pod differ from its like, unless the workload wants batches of equal ones.
  if (pod) {
    sandbox::ObjectAt(*pod, {"metadata", "labels"})["signature"] =
        fmt::format("signature-label-{}", index / signature_batch_size_);
  }
  return pod;
}

base::Result<void> PodMaker::CreateVolume(TestCluster& cluster, LoadClock& clock,
                                          const std::string& namespace_name, std::int64_t index,
                                          json::object& pod) const {
  const std::string claim_name = fmt::format("pvc-{}", index);
  const std::string volume_name = fmt::format("{}-vol-{}", namespace_name, index);
  auto claim = claim_->Make({});
  if (!claim) return std::unexpected(std::move(claim.error()));
  auto volume = volume_->Make({});
  if (!volume) return std::unexpected(std::move(volume.error()));

  sandbox::ObjectAt(*claim, {"metadata"})["name"] = claim_name;
  sandbox::ObjectAt(*claim, {"spec"})["volumeName"] = volume_name;
  sandbox::ObjectAt(*volume, {"metadata"})["name"] = volume_name;
  json::object& spec = sandbox::ObjectAt(*volume, {"spec"});
  spec["claimRef"] = json::object{{"apiVersion", "v1"},
                                  {"kind", "PersistentVolumeClaim"},
                                  {"name", claim_name},
                                  {"namespace", namespace_name}};
  if (json::object* const csi = sandbox::FindObject(*volume, {"spec", "csi"}))
    (*csi)["volumeHandle"] = volume_name;
  if (json::object* const aws = sandbox::FindObject(*volume, {"spec", "awsElasticBlockStore"})) {
    (*aws)["volumeID"] = fmt::format("vol-{}", index);
  }

  const auto create_bound = [&](const sandbox::Resource& resource, const std::string& where,
                                const std::string& name, json::object document) -> base::Result<void> {
    sandbox::Target target{.resource = &resource, .namespace_name = where};
    clock.AwaitTurn();
    if (const auto made = cluster.Create(target, document); !made) {
      return std::unexpected(RequestError("creating " + name, made.error()));
    }
    target.name = name;
    target.subresource = "status";
    sandbox::ObjectAt(document, {"status"})["phase"] = "Bound";
    clock.AwaitTurn();
    if (const auto updated = cluster.Update(target, std::move(document)); !updated) {
      return std::unexpected(RequestError("updating the status of " + name, updated.error()));
    }
    return {};
  };
  auto made = create_bound(sandbox::ResourceOf("v1", "PersistentVolumeClaim"), namespace_name, claim_name,
                           *std::move(claim));
  if (!made) return made;
  made = create_bound(sandbox::ResourceOf("v1", "PersistentVolume"), "", volume_name, *std::move(volume));
  if (!made) return made;
  sandbox::ObjectAt(pod, {"spec"})["volumes"] = json::array{
      json::object{{"name", "vol"}, {"persistentVolumeClaim", json::object{{"claimName", claim_name}}}}};
  return {};
}

base::Result<void> PodMaker::Create(TestCluster& cluster, LoadClock& clock, const std::string& namespace_name,
                                    std::int64_t index, std::int64_t count) const {
  auto pod = Pod(index, count);
  if (!pod) return std::unexpected(std::move(pod.error()));
  if (claim_) {
    if (auto made = CreateVolume(cluster, clock, namespace_name, index, *pod); !made) return made;
  }
  clock.AwaitTurn();
  const sandbox::Target target{.resource = &Pods(), .namespace_name = namespace_name};
  const auto made = cluster.Create(target, *std::move(pod));
  if (made || made.error().reason == "AlreadyExists") return {};
  return std::unexpected(RequestError("creating a pod", made.error()));
}

}  // namespace berth::bench
