#include "bench/node_maker.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

#include "bench/field_reader.h"
#include "bench/object_template.h"
#include "bench/pod_maker.h"
#include "sandbox/document.h"
#include "sandbox/kinds.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

constexpr int kAttempts = 5;
constexpr std::string_view kNameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kNameSuffix = 5;
constexpr std::string_view kTemplateField = "nodeTemplatePath";
constexpr std::string_view kLimitField = "nodeAllocatableStrategy";

const sandbox::Resource& Nodes() { return sandbox::ResourceOf("v1", "Node"); }

json::object PlainNode(std::size_t op_index) {
  const json::object amounts{{"pods", "110"}, {"cpu", "4"}, {"memory", "32Gi"}};
  return {{"metadata", json::object{{"generateName", fmt::format("node-{}-", op_index)}}},
          {"status",
           json::object{{"capacity", amounts},
                        {"allocatable", amounts},
                        {"phase", "Running"},
                        {"conditions", json::array{json::object{{"type", "Ready"}, {"status", "True"}}}}}}};
}

}  // namespace

std::string NodeMaker::RandomText(std::string_view alphabet, std::size_t size) {
  std::string text;
  while (text.size() < size) text += alphabet[random_.Uniform(alphabet.size())];
  return text;
}

base::Result<void> NodeMaker::Create(const CreateNodes& op, const std::filesystem::path& folder,
                                     std::size_t op_index) {
  std::optional<ObjectTemplate> node_template;
  if (!op.template_path.empty()) {
    auto loaded = ObjectTemplate::Load(folder / op.template_path, Nodes().message);
    if (!loaded) return FailIn(kTemplateField, "failed to get node template: " + loaded.error().message);
    node_template = *std::move(loaded);
  }
  const std::int64_t count = op.count.number();
  for (std::int64_t index = 0; index < count; ++index) {
    if (auto may = may_go_on_(); !may) return may;
    auto node = node_template ? node_template->Make(TemplateData(op.template_params, index, count))
                              : base::Result<json::object>(PlainNode(op_index));
    if (!node) return FailIn(kTemplateField, node.error().message);
    auto made = CreateOne(*std::move(node), node_template ? kTemplateField : std::string_view());
    if (!made) return made;
  }
  const std::vector<std::string> names = cluster_.NodeNames();
  const std::size_t first = std::min(created_, names.size());
  const std::size_t size = std::min(static_cast<std::size_t>(count), names.size() - first);
  created_ += static_cast<std::size_t>(count);
  // By their place in the list and not by who created them: upstream's rule.
  const auto changed = std::span(names).subspan(first, size);
  if (auto applied = Apply(op.strategy, changed); !applied) return applied;
  for (const std::string& name : changed) {
    if (auto declared = DeclareOn(name); !declared) return declared;
  }
  return {};
}

base::Result<void> NodeMaker::DeclareOn(const std::string& node) {
  if (declared_.empty()) return {};
  if (auto may = may_go_on_(); !may) return may;
  sandbox::Target target{.resource = &Nodes(), .name = node};
  auto document = cluster_.Get(target);
  if (!document) return base::Fail("node " + node + " is gone");
  sandbox::ArrayAt(*document, {"status", "declaredFeatures"}) =
      json::array(declared_.begin(), declared_.end());
  target.subresource = "status";
  clock_.AwaitTurn();
  const auto updated = cluster_.Update(target, *std::move(document));
  if (!updated) return FailRequest("", "declaring features of node " + node, updated.error());
  return {};
}

base::Result<void> NodeMaker::CreateOne(json::object node, std::string_view field) {
  json::object& metadata = sandbox::ObjectAt(node, {"metadata"});
  const std::string prefix(sandbox::TextAt(metadata, {"generateName"}));
  const bool has_name = !sandbox::TextAt(metadata, {"name"}).empty();
  for (int attempt = 1;; ++attempt) {
    if (!has_name) metadata["name"] = prefix + RandomText(kNameAlphabet, kNameSuffix);
    sandbox::ObjectAt(node, {"metadata", "labels"})["kubernetes.io/hostname"] = metadata["name"];
    clock_.AwaitTurn();
    const auto made = cluster_.Create({.resource = &Nodes()}, node);
    if (made) return {};
    if (attempt == kAttempts) return FailRequest(field, "creating node", made.error());
  }
}

base::Result<void> NodeMaker::Patch(const std::string& node, const json::object& patch,
                                    std::string_view field) {
  clock_.AwaitTurn();
  const auto patched = cluster_.MergePatch({.resource = &Nodes(), .name = node}, patch);
  if (!patched) return FailRequest(field, "patching node " + node, patched.error());
  return {};
}

base::Result<void> NodeMaker::PatchLabel(const std::string& node, const std::string& key,
                                         const std::string& value, std::string_view field) {
  return Patch(node, {{"metadata", json::object{{"labels", json::object{{key, value}}}}}}, field);
}

base::Result<void> NodeMaker::Apply(const NodeStrategy& strategy, std::span<const std::string> nodes) {
  for (const std::string& node : nodes) {
    if (auto may = may_go_on_(); !may) return may;
    base::Result<void> applied;
    if (const auto* const labels = std::get_if<LabelNodes>(&strategy)) {
      applied = PatchLabel(node, labels->key, labels->values[(*labels->next)++ % labels->values.size()],
                           "labelNodePrepareStrategy");
    } else if (const auto* const unique = std::get_if<LabelNodesUniquely>(&strategy)) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const std::string uuid = fmt::format("{}-{}-4{}-a{}-{}", RandomText(kHex, 8), RandomText(kHex, 4),
                                           RandomText(kHex, 3), RandomText(kHex, 3), RandomText(kHex, 12));
      applied = PatchLabel(node, unique->key, uuid, "uniqueNodeLabelStrategy");
    } else if (const auto* const limits = std::get_if<LimitVolumes>(&strategy)) {
      applied = LimitNode(node, *limits);
    }
    if (!applied) return applied;
  }
  return {};
}

base::Result<void> NodeMaker::LimitNode(const std::string& node, const LimitVolumes& limits) {
  json::object allocatable;
  for (const auto& [name, amount] : limits.node_allocatable) allocatable[name] = amount;
  // The server discards a status that comes this way; upstream sends it all the same.
  auto patched = Patch(node, {{"status", json::object{{"allocatable", allocatable}}}}, kLimitField);
  if (!patched) return patched;
  const sandbox::Resource& resource = sandbox::ResourceOf("storage.k8s.io/v1", "CSINode");
  const sandbox::Target target{.resource = &resource, .name = node};
  auto existing = cluster_.Get(target);
  json::object csi_node = existing ? *existing : json::object{{"metadata", json::object{{"name", node}}}};
  if (!existing) {
    sandbox::ObjectAt(csi_node, {"metadata", "annotations"})["storage.alpha.kubernetes.io/migrated-plugins"] =
        fmt::format("{}", fmt::join(limits.migrated_plugins, ","));
  }
  json::array& drivers = sandbox::ArrayAt(csi_node, {"spec", "drivers"});
  for (const auto& [driver, count] : limits.driver_counts) {
    json::object entry{{"name", driver}, {"nodeID", node}, {"allocatable", json::object{{"count", count}}}};
    const auto same = std::ranges::find_if(drivers, [&](const json::value& other) {
      return sandbox::TextAt(other.as_object(), {"name"}) == driver;
    });
    if (same != drivers.end()) {
      *same = std::move(entry);
    } else {
      drivers.push_back(std::move(entry));
    }
  }
  clock_.AwaitTurn();
  if (!existing) {
    const auto made = cluster_.Create({.resource = &resource}, std::move(csi_node));
    if (!made) return FailRequest(kLimitField, "creating CSINode " + node, made.error());
    return {};
  }
  const auto updated = cluster_.Update(target, std::move(csi_node));
  if (!updated) return FailRequest(kLimitField, "updating CSINode " + node, updated.error());
  return {};
}

}  // namespace berth::bench
