#include "bench/pod_maker.h"

#include <fmt/format.h>
#include <utility>

#include "bench/field_reader.h"
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

constexpr std::string_view kClaimField = "persistentVolumeClaimTemplatePath";
constexpr std::string_view kVolumeField = "persistentVolumeTemplatePath";

base::Result<std::optional<ObjectTemplate>> LoadOptional(const std::filesystem::path& folder,
                                                         std::string_view field, const std::string& path,
                                                         const sandbox::Resource& kind, bool expands) {
  if (path.empty()) return std::nullopt;
  auto loaded = ObjectTemplate::Load(folder / path, kind.message, expands);
  if (!loaded) return FailIn(field, loaded.error().message);
  return *std::move(loaded);
}

}  // namespace

json::object TemplateData(const json::object& params, std::int64_t index, std::optional<std::int64_t> count) {
  json::object data = params;
  data["Index"] = index;
  if (count) data["Count"] = *count;
  return data;
}

std::unexpected<base::Error> FailRequest(std::string_view field, std::string_view what,
                                         const sandbox::StatusError& error) {
  const std::string text = fmt::format("{}: {}", what, error.message);
  // Neither who asks nor how often is a matter of the object.
  const bool is_about_object =
      error.code >= 400 && error.code < 500 && error.code != 401 && error.code != 403 && error.code != 429;
  return is_about_object && !field.empty() ? FailIn(field, text) : base::Fail(text);
}

base::Result<PodMaker> PodMaker::Make(const CreatePods& op, const std::filesystem::path& folder,
                                      const std::string& default_template) {
  PodMaker maker;
  maker.params_ = op.template_params;
  maker.signature_batch_size_ = op.signature_batch_size.number(1);
  const std::string& path = op.template_path.empty() ? default_template : op.template_path;
  if (op.template_path.empty()) maker.pod_field_ = "defaultPodTemplatePath";
  auto pod = LoadOptional(folder, maker.pod_field_, path, Pods(), /*expands=*/true);
  if (!pod) return std::unexpected(std::move(pod.error()));
  maker.pod_ = *std::move(pod);
  if (op.claim_template_path.empty()) return maker;
  auto claim = LoadOptional(folder, kClaimField, op.claim_template_path,
                            sandbox::ResourceOf("v1", "PersistentVolumeClaim"), /*expands=*/false);
  if (!claim) return std::unexpected(std::move(claim.error()));
  maker.claim_ = *std::move(claim);
  auto volume = LoadOptional(folder, kVolumeField, op.volume_template_path,
                             sandbox::ResourceOf("v1", "PersistentVolume"),
                             /*expands=*/false);
  if (!volume) return std::unexpected(std::move(volume.error()));
  if (!*volume) return FailIn(kVolumeField, "a claim template needs a volume template");
  maker.volume_ = *std::move(volume);
  return maker;
}

base::Result<json::object> PodMaker::Pod(std::int64_t index, std::int64_t count) const {
  if (!pod_) return PlainPod();
  auto pod = pod_->Make(TemplateData(params_, index, count));
  if (!pod) return FailIn(pod_field_, pod.error().message);
  // A label of its own makes the pod differ from its like, unless the workload wants batches of equal ones.
  sandbox::ObjectAt(*pod, {"metadata", "labels"})["signature"] =
      fmt::format("signature-label-{}", index / signature_batch_size_);
  return pod;
}

base::Result<std::vector<Write>> PodMaker::VolumeWrites(const std::string& namespace_name, std::int64_t index,
                                                        json::object& pod) const {
  const std::string claim_name = fmt::format("pvc-{}", index);
  const std::string volume_name = fmt::format("{}-vol-{}", namespace_name, index);
  auto claim = claim_->Make({});
  if (!claim) return FailIn(kClaimField, claim.error().message);
  auto volume = volume_->Make({});
  if (!volume) return FailIn(kVolumeField, volume.error().message);

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

  std::vector<Write> writes;
  const auto create_bound = [&](const sandbox::Resource& resource, const std::string& where,
                                const std::string& name, std::string_view field, json::object document) {
    sandbox::Target target{.resource = &resource, .namespace_name = where};
    writes.push_back({Write::Verb::kCreate, target, document, "creating " + name, field});
    target.name = name;
    target.subresource = "status";
    sandbox::ObjectAt(document, {"status"})["phase"] = "Bound";
    writes.push_back(
        {Write::Verb::kUpdate, target, std::move(document), "updating the status of " + name, field});
  };
  create_bound(sandbox::ResourceOf("v1", "PersistentVolumeClaim"), namespace_name, claim_name, kClaimField,
               *std::move(claim));
  create_bound(sandbox::ResourceOf("v1", "PersistentVolume"), "", volume_name, kVolumeField,
               *std::move(volume));
  sandbox::ObjectAt(pod, {"spec"})["volumes"] = json::array{
      json::object{{"name", "vol"}, {"persistentVolumeClaim", json::object{{"claimName", claim_name}}}}};
  return writes;
}

base::Result<std::vector<Write>> PodMaker::Writes(LoadClock& clock, const std::string& namespace_name,
                                                  std::int64_t index, std::int64_t count) const {
  auto pod = Pod(index, count);
  if (!pod) return std::unexpected(std::move(pod.error()));
  std::vector<Write> writes;
  if (claim_) {
    auto volume = VolumeWrites(namespace_name, index, *pod);
    if (!volume) return volume;
    writes = *std::move(volume);
  }
  writes.push_back({Write::Verb::kCreate,
                    {.resource = &Pods(), .namespace_name = namespace_name},
                    *std::move(pod),
                    "creating a pod",
                    pod_ ? pod_field_ : std::string_view()});
  for (std::size_t i = 0; i < writes.size(); ++i) clock.AwaitTurn();
  return writes;
}

WriteCallback PodMaker::KeepFirst(std::shared_ptr<base::Result<void>> failed) {
  return [failed = std::move(failed)](const Write* refused, const sandbox::StatusError& error) {
    if (refused == nullptr || !*failed) return;
    if (refused->target.resource == &Pods() && error.reason == "AlreadyExists") return;
    *failed = FailRequest(refused->field, refused->what, error);
  };
}

}  // namespace berth::bench
