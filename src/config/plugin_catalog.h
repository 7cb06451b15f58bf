#pragma once

#include <bitset>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/points.h"
#include "framework/features.h"
#include "framework/registry.h"

namespace berth::config {

// Which plugins a configuration may name, and at which points. kube-scheduler has its whole set at every
// setting of the gates, so the set does not depend on what of it is built in here.
class PluginCatalog {
 public:
  using Points = std::bitset<kPointCount>;

  // kube-scheduler's own.
  static PluginCatalog InTree();
  // Those that are built in here, at the points that they implement here.
  static base::Result<PluginCatalog> BuiltIn(const framework::Registry& registry,
                                             const framework::Features& features);
  // kube-scheduler's own, and what of `built_in` is not among them.
  static PluginCatalog With(const PluginCatalog& built_in);

  void Add(std::string_view name, Points points) { plugins_.insert_or_assign(std::string(name), points); }
  bool Contains(std::string_view name) const { return plugins_.contains(name); }
  const std::map<std::string, Points, std::less<>>& plugins() const { return plugins_; }
  bool Extends(std::string_view name, Point point) const {
    const auto found = plugins_.find(name);
    return found != plugins_.end() && found->second.test(Index(point));
  }

 private:
  std::map<std::string, Points, std::less<>> plugins_;
};

}  // namespace berth::config
