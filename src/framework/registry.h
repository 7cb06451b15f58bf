#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/cluster.h"
#include "framework/features.h"
#include "framework/plugin.h"
#include "framework/plugin_args.h"

namespace berth::framework {

class ObjectWriter;

// What a plugin is made of.
struct PluginSetup {
  const Features& features;
  const PluginArgs& args;
  // For plugins that add an index of their own to it (cluster::Extension); outlives the plugin.
  cluster::Cluster& cluster;
  // For plugins that write to claims or volumes; outlives the plugin. Null where nothing is written, as in a
  // comparison with recorded cases.
  ObjectWriter* writes = nullptr;
  // For measuring alone: nodes may declare Feature1 to Feature<n> instead of what v1.37 knows, and a pod with
  // resources of its own needs them all. 0: what v1.37 knows.
  std::size_t made_up_node_features = 0;
};
inline constexpr std::size_t kMadeUpNodeFeaturesMax = 128;

// Fails with upstream's words about bad arguments.
using PluginFactory = std::function<base::Result<std::unique_ptr<Plugin>>(const PluginSetup&)>;

// The plugins that a configuration may name. A plugin from outside is one pair of files and one line:
//
//   registry.Add<ExampleHold>("ExampleHold");
class Registry {
 public:
  // The name must be new.
  void Add(std::string_view name, PluginFactory factory);
  // For a plugin whose constructor takes a PluginSetup and cannot fail.
  template <class T>
  void Add(std::string_view name) {
    Add(name, [](const PluginSetup& setup) -> base::Result<std::unique_ptr<Plugin>> {
      return std::make_unique<T>(setup);
    });
  }

  bool Contains(std::string_view name) const { return Find(name) != nullptr; }
  // Fails for a name that is not here, and with the words of the plugin about its arguments.
  base::Result<std::unique_ptr<Plugin>> Make(std::string_view name, const PluginSetup& setup) const;
  // In the order of registration.
  std::vector<std::string_view> Names() const;

 private:
  struct Entry {
    std::string_view name;  // a constant
    PluginFactory factory;
  };
  const PluginFactory* Find(std::string_view name) const;

  std::vector<Entry> entries_;
};

}  // namespace berth::framework
