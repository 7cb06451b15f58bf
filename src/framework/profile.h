#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "framework/binding_points.h"
#include "framework/features.h"
#include "framework/plugin_args.h"
#include "framework/points.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

namespace berth::framework {

enum class ExtensionPoint : std::uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr std::size_t kExtensionPointCount = 12;

struct EnabledPlugin {
  std::string name;
  std::int64_t weight = 0;  // of scores; 0 means 1

  bool operator==(const EnabledPlugin&) const = default;
};

// The default list, by the gates, with weights: what a profile without any configuration enables at every
// point that each plugin has. Plugins that the registry does not know are the caller's to leave out or to
// fail on.
std::vector<EnabledPlugin> DefaultPlugins(const Features& features);

struct ProfileConfig {
  std::string scheduler_name = "default-scheduler";
  // Per point, in order; what the configuration's multiPoint and merging rules came to.
  std::vector<EnabledPlugin> enabled[kExtensionPointCount];
  PluginArgs args;
  // Nothing: the scheduler's.
  std::optional<std::int32_t> percentage_of_nodes_to_score;
};

// Every plugin at every point that it implements, in the order of the list. Asks the registry to make each
// plugin once.
base::Result<ProfileConfig> ExpandEverywhere(std::span<const EnabledPlugin> plugins, const Registry& registry,
                                             const PluginSetup& setup);

// A plugin at one point of its profile.
template <class Point>
struct Placed {
  const Plugin* plugin;
  const Point* point;

  PluginIndex index() const { return plugin->index(); }
};
struct PlacedScore : Placed<ScorePoint> {
  std::int64_t weight;
  bool pre_score;  // whether the plugin is enabled at PreScore, too
};
struct FixedReasons {
  RejectionId first;
  std::size_t count = 0;
};

// The plugins of one scheduler name, made and ordered. Immutable.
//
// 1. index() of a plugin is its place in plugins(): the order of its first appearance over Filter, then the
// other
//    points. So of two refusals, the smaller index is the one that Filter would have met first.
// 2. plugin_names() ends with "Extender", for refusals by extenders.
class Profile {
 public:
  // The table gets the fixed refusals of all plugins; one table per profile.
  static base::Result<std::unique_ptr<const Profile>> Make(const ProfileConfig& config,
                                                           const Registry& registry, const PluginSetup& setup,
                                                           RejectionTable& table);
  // Whether it can serve a queue and bind pods: exactly one order, and some way to bind. A profile that only
  // answers questions needs neither.
  base::Result<void> CheckRunnable() const;

  const std::string& scheduler_name() const { return config_.scheduler_name; }
  const ProfileConfig& config() const { return config_; }
  const Features& features() const { return features_; }
  std::span<const std::unique_ptr<Plugin>> plugins() const { return plugins_; }
  std::span<const std::string_view> plugin_names() const { return names_; }
  PluginIndex extender_index() const { return static_cast<PluginIndex>(plugins_.size()); }
  FixedReasons fixed_reasons(PluginIndex plugin) const { return fixed_[plugin]; }

  std::span<const Placed<PreEnqueuePoint>> pre_enqueue() const { return pre_enqueue_; }
  // Of a profile that CheckRunnable accepted.
  const QueueSortPoint& queue_sort() const { return *queue_sort_; }
  std::span<const Placed<StatefulPoint>> stateful() const { return stateful_; }
  std::span<const Placed<PreFilterPoint>> pre_filter() const { return pre_filter_; }
  std::span<const Placed<FilterPoint>> filter() const { return filter_; }
  std::span<const Placed<PostFilterPoint>> post_filter() const { return post_filter_; }
  std::span<const PlacedScore> score() const { return score_; }
  std::span<const Placed<ReservePoint>> reserve() const { return reserve_; }
  std::span<const Placed<PermitPoint>> permit() const { return permit_; }
  std::span<const Placed<PreBindPoint>> pre_bind() const { return pre_bind_; }
  std::span<const Placed<BindPoint>> bind() const { return bind_; }
  std::span<const Placed<PostBindPoint>> post_bind() const { return post_bind_; }
  std::span<const Placed<EnqueuePoint>> enqueue() const { return enqueue_; }
  // Empty if some plugin cannot sign: then no pod of this profile has a signature.
  std::span<const Placed<SignPoint>> sign() const { return sign_; }

 private:
  Profile(const ProfileConfig& config, const Features& features) : config_(config), features_(features) {}
  void PlaceAll();

  const ProfileConfig config_;
  const Features features_;
  std::vector<std::unique_ptr<Plugin>> plugins_;  // by PluginIndex
  std::vector<std::string_view> names_;           // by PluginIndex, then "Extender"
  std::vector<FixedReasons> fixed_;
  const QueueSortPoint* queue_sort_ = nullptr;
  std::vector<Placed<PreEnqueuePoint>> pre_enqueue_;
  std::vector<Placed<StatefulPoint>> stateful_;
  std::vector<Placed<PreFilterPoint>> pre_filter_;
  std::vector<Placed<FilterPoint>> filter_;
  std::vector<Placed<PostFilterPoint>> post_filter_;
  std::vector<PlacedScore> score_;
  std::vector<Placed<ReservePoint>> reserve_;
  std::vector<Placed<PermitPoint>> permit_;
  std::vector<Placed<PreBindPoint>> pre_bind_;
  std::vector<Placed<BindPoint>> bind_;
  std::vector<Placed<PostBindPoint>> post_bind_;
  std::vector<Placed<EnqueuePoint>> enqueue_;
  std::vector<Placed<SignPoint>> sign_;
};

}  // namespace berth::framework
