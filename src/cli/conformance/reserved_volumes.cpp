#include "cli/conformance/reserved_volumes.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>

#include "cli/conformance/case_json.h"

#include "cluster/object_store.h"
#include "framework/binding_points.h"
#include "plugins/volume_binding_caches.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;
using Found = std::map<std::string, std::string>;  // by the claim's key

// What was promised: not the object that the server has.
Found PromisesIn(cluster::Cluster& cluster) {
  const auto& caches = cluster.UseExtension<plugins::VolumeCaches>();
  Found found;
  cluster.objects().Of<api::PersistentVolume>().ForEach([&](const auto& stored) {
    const auto seen = caches.volumes().Get({}, stored->metadata.name);
    if (seen == stored) return;
    found[plugins::KeyOf(seen->spec.claim_ref->namespace_, seen->spec.claim_ref->name)] =
        "volume " + seen->metadata.name;
  });
  cluster.objects().Of<api::PersistentVolumeClaim>().ForEach([&](const auto& stored) {
    const auto seen = caches.claims().Get(stored->metadata.namespace_, stored->metadata.name);
    if (seen == stored) return;
    found[plugins::KeyOf(seen->metadata)] =
        "node " + *seen->metadata.annotations.find(plugins::kSelectedNode);
  });
  return found;
}

Found WantedOf(const json::object& volumes, const cluster::Cluster& cluster) {
  Found wanted;
  for (const auto& entry : volumes) {
    const json::object& one = entry.value().as_object();
    const std::string volume(TextAt(one, "volume"));
    if (volume.empty()) {
      wanted[entry.key()] = fmt::format("node {}", TextAt(one, "selectedNode"));
      continue;
    }
    // A volume that names the claim in full is reserved without a change.
    const auto stored = cluster.objects().Of<api::PersistentVolume>().Find(volume);
    const auto& reference = stored->spec.claim_ref;
    if (!reference || reference->uid.empty()) wanted[entry.key()] = fmt::format("volume {}", volume);
  }
  return wanted;
}

}  // namespace

Difference CheckReservedVolumes(const json::object& expect, cluster::Cluster& cluster,
                                const framework::Profile& profile, framework::Cycle& decided) {
  const json::value* const reserve = ValueAt(expect, "reserve");
  const json::value* const volumes = reserve == nullptr ? nullptr : ValueAt(reserve->as_object(), "volumes");
  if (volumes == nullptr) return std::nullopt;
  const auto placed = std::ranges::find_if(
      profile.reserve(), [](const auto& entry) { return entry.plugin->Name() == "VolumeBinding"; });
  if (placed == profile.reserve().end()) return std::nullopt;
  const cluster::NodeRow row = cluster.nodes().Find(TextsAt(expect, "suggestedHosts").front());
  framework::Assignment assignment{.pod = cluster.pods().Version(decided.pod()),
                                   .record = cluster.pods().facts(decided.pod()).record,
                                   .row = cluster.nodes().Version(row),
                                   .node_name = std::string(cluster.nodes().name(row)),
                                   .data = decided.TakeData()};
  const framework::Status status = placed->point->Reserve(cluster, assignment);
  const Found got = PromisesIn(cluster);
  placed->point->Unreserve(cluster, assignment);
  if (!status.IsSuccess()) return "reserve: " + status.Message();
  if (!PromisesIn(cluster).empty()) return "reserve: a promise is left behind";
  const Found want = WantedOf(volumes->as_object(), cluster);
  for (const Found* const side : {&got, &want}) {
    for (const auto& [claim, text] : *side) {
      const auto text_in = [&](const Found& found) {
        const auto at = found.find(claim);
        return at == found.end() ? std::string("nothing") : at->second;
      };
      if (auto difference = Compare(fmt::format("reserve of {}", claim), text_in(got), text_in(want))) {
        return difference;
      }
    }
  }
  return std::nullopt;
}

}  // namespace berth::cli
