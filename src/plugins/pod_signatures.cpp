#include "plugins/pod_signatures.h"

#include <algorithm>
#include <vector>

#include "fmt/format.h"

#include "api/pod_requests.h"
#include "plugins/resource_allocation.h"

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

}  // namespace

void AppendField(std::string& text, std::string_view field) {
  text += std::to_string(field.size());
  text += ':';
  text += field;
}

void SignTolerations(const api::PodSpec& spec, framework::Signature& signature) {
  std::vector<std::string> tolerations;
  for (const api::Toleration& toleration : spec.tolerations) {
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

}  // namespace berth::plugins
