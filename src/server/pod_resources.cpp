#include "server/pod_resources.h"

#include <absl/container/flat_hash_map.h>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod_requests.h"
#include "api/resource_names.h"
#include "base/go_text.h"

namespace berth::server {
namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == api::kCpu) return "cores";
  if (resource == api::kMemory || resource == "storage" || resource == api::kEphemeralStorage ||
      api::IsHugePageResource(resource)) {
    return "bytes";
  }
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

// What follows the pod's own labels on each of its lines, ready to be written.
struct Line {
  std::string tail;
};
using Lines = std::vector<Line>;

Lines LinesOf(const api::PodSpec& spec, const api::ResourceList& amounts) {
  const std::string priority = spec.priority ? std::to_string(*spec.priority) : std::string();
  Lines lines;
  for (const auto& [resource, quantity] : amounts) {
    const double value = quantity.AsApproximateFloat();
    if (value == 0) continue;
    lines.push_back({fmt::format("priority=\"{}\",resource=\"{}\",scheduler=\"{}\",unit=\"{}\"}} {}\n",
                                 priority, Escaped(resource), Escaped(spec.scheduler_name), UnitOf(resource),
                                 base::FormatGoFloat(value))});
  }
  return lines;
}

struct Family {
  std::string_view name;
  std::string_view help;
  api::ResourceList (*amounts)(const api::PodResourceView&, const api::PodRequestOptions&);
};

constexpr std::array kFamilies = {
    Family{"kube_pod_resource_limit",
           "What each pod may use at most, as scheduler and kubelet count it, by resource and its unit.",
           &api::PodLimits},
    Family{"kube_pod_resource_request",
           "What each pod asks for, as scheduler and kubelet count it, by resource and its unit.",
           &api::PodRequests},
};

void AppendFamily(const cluster::Cluster& cluster, const Family& family, std::string& out) {
  absl::flat_hash_map<const api::PodTemplate*, Lines> by_template;
  const cluster::PodTable& pods = cluster.pods();
  bool first = true;
  for (std::size_t i = 0; i < pods.slot_count(); ++i) {
    const cluster::PodSlot slot(static_cast<std::uint32_t>(i));
    if (!pods.IsLive(slot)) continue;
    const api::PodRecord& pod = pods.record(slot);
    const bool is_finished = pod.phase == "Succeeded" || pod.phase == "Failed";
    if (is_finished && !pod.node_name.empty()) continue;
    const auto [found, is_new] = by_template.try_emplace(pod.spec.get());
    if (is_new) {
      const api::PodSpec& spec = pod.spec->spec;
      found->second = LinesOf(spec, family.amounts(api::PodResourceView(spec), {}));
    }
    for (const Line& line : found->second) {
      if (std::exchange(first, false)) {
        fmt::format_to(std::back_inserter(out), "# HELP {} [STABLE] {}\n# TYPE {} gauge\n", family.name,
                       family.help, family.name);
      }
      fmt::format_to(std::back_inserter(out), "{}{{namespace=\"{}\",node=\"{}\",pod=\"{}\",", family.name,
                     pod.namespace_, pod.node_name, pod.name);
      out += line.tail;
    }
  }
}

}  // namespace

std::string PodResourcesText(const cluster::Cluster& cluster) {
  std::string out;
  for (const Family& family : kFamilies) AppendFamily(cluster, family, out);
  return out;
}

}  // namespace berth::server
