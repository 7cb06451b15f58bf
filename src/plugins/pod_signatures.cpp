#include "plugins/pod_signatures.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "api/pod_requests.h"
#include "plugins/resource_allocation.h"
#include "plugins/volume_claims.h"

namespace berth::plugins {
namespace {

void AppendVector(std::string& text, const api::ResourceVector& amounts) {
  text += fmt::format("{} {} {}", amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage);
  for (const auto& [name, amount] : amounts.scalars) {
    text += ' ';
    AppendField(text, name);
    text += std::to_string(amount);
  }
  text += '\n';
}

// Kind and fields of a volume's source.
class SourceText {
 public:
  explicit SourceText(const PodVolume& volume) {
    const api::VolumeSource& source = volume.volume->volume_source;
    Field("claim", source.persistent_volume_claim, [&](const auto&) { Add(volume.claim); });
    // The claim of an ephemeral volume is made of a template that no plugin reads.
    Field("ephemeral", source.ephemeral, [](const auto&) {});
    Field("csi", source.csi, [&](const auto& csi) { Add(csi.driver); });
    Field("gce", source.gce_persistent_disk, [&](const auto& disk) {
      Add(disk.pd_name, disk.fs_type, std::to_string(disk.partition), Flag(disk.read_only));
    });
    Field("ebs", source.aws_elastic_block_store, [&](const auto& disk) {
      Add(disk.volume_id, disk.fs_type, std::to_string(disk.partition), Flag(disk.read_only));
    });
    Field("iscsi", source.iscsi, [&](const auto& disk) { Add(disk.iqn, Flag(disk.read_only)); });
    Field("rbd", source.rbd, [&](const auto& disk) {
      Add(disk.pool, disk.image, Flag(disk.read_only));
      for (const std::string& monitor : disk.monitors) Add(monitor);
    });
    Field("cinder", source.cinder, [&](const auto& disk) { Add(disk.volume_id, Flag(disk.read_only)); });
    Field("azure-file", source.azure_file,
          [&](const auto& file) { Add(file.secret_name, file.share_name, Flag(file.read_only)); });
    Field("azure-disk", source.azure_disk,
          [&](const auto& disk) { Add(disk.disk_name, disk.disk_uri, disk.kind.value_or("")); });
    Field("vsphere", source.vsphere_volume,
          [&](const auto& disk) { Add(disk.volume_path, disk.storage_policy_name, disk.storage_policy_id); });
    Field("portworx", source.portworx_volume,
          [&](const auto& disk) { Add(disk.volume_id, Flag(disk.read_only)); });
  }

  std::string Take() { return std::move(text_); }

 private:
  static std::string_view Flag(bool value) { return value ? "1" : "0"; }

  template <class... Texts>
  void Add(const Texts&... texts) {
    (AppendField(text_, texts), ...);
  }
  template <class T, class F>
  void Field(std::string_view kind, const std::optional<T>& source, F&& add_fields) {
    if (!source) return;
    Add(kind);
    add_fields(*source);
  }

  std::string text_;
};

}  // namespace

void AppendField(std::string& text, std::string_view field) {
  text += std::to_string(field.size());
  text += ':';
  text += field;
}

void SignTolerations(const api::PodSpec& spec, framework::Signature& signature) {
  std::vector<std::string> tolerations;
  for (const api::Toleration& toleration : *spec.tolerations) {
    std::string& text = tolerations.emplace_back();
    AppendField(text, toleration.key);
    AppendField(text, toleration.value);
    AppendField(text, toleration.operator_);
    AppendField(text, toleration.effect);
  }
  std::ranges::sort(tolerations);
  signature.Add("v1.Pod.Spec.Tolerations", fmt::format("{}", fmt::join(tolerations, "\n")));
}

void SignRequests(const framework::WaitingPod& pod, const framework::Features& features,
                  framework::Signature& signature) {
  const api::ResourceGates gates = features.ForResources();
  const api::PodResourceView view(pod.record());
  std::string text;
  AppendVector(text, api::PendingPodRequests(view, gates));
  // Scores take defaults per container, and what a kubelet reports: two pods that ask for the same may
  // differ.
  AppendVector(text, api::ToVector(FitScoreRequests(view)));
  AppendVector(text, api::ToVector(BalanceScoreRequests(view, gates)));
  signature.Add("v1.Pod.Spec.ContainerRequestsAndOverheads()", std::move(text));
}

void SignVolumes(const api::PodRecord& pod, framework::Signature& signature) {
  std::vector<std::string> sources;
  for (const PodVolume& volume : VolumesOf(pod)) sources.push_back(SourceText(volume).Take());
  std::ranges::sort(sources);
  std::string text;
  for (const std::string& source : sources) AppendField(text, source);
  signature.Add("v1.Pod.Spec.Volumes.NonSyntheticSources()", std::move(text));
}

}  // namespace berth::plugins
