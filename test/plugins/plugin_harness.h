#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "framework/decide.h"
#include "framework/events.h"
#include "framework/features.h"
#include "framework/plugin_args.h"
#include "framework/profile.h"
#include "framework/rejections.h"
#include "support/builders.h"

namespace berth::test {

// A cluster and a profile with a few plugins. It speaks in node names and texts: what a user would see.
class PluginHarness {
 public:
  struct Options {
    std::vector<framework::EnabledPlugin> plugins;
    framework::Features features = framework::Features::Upstream();
    framework::PluginArgs args = {};
    std::size_t made_up_node_features = 0;
  };
  // Each plugin at every point that it has; fails the process if it cannot be made.
  explicit PluginHarness(Options options);
  // Shorthand for one plugin with default arguments.
  explicit PluginHarness(std::string plugin) : PluginHarness(Options{.plugins = {{std::move(plugin), 1}}}) {}

  cluster::Cluster& cluster() { return cluster_; }
  const framework::Profile& profile() const { return *profile_; }

  PluginHarness& Add(const api::Node& node);
  // On its node if it names one, else pending.
  PluginHarness& Add(const PodBuilder& pod);
  cluster::PodSlot SlotOf(const PodBuilder& pod);

  // The whole answer for a pod that is added first if need be.
  framework::Explanation Explain(const PodBuilder& pod);
  // By node: "" where it fits, else "U reason" or "UU reason, reason". Nodes outside a narrowing are missing.
  std::map<std::string, std::string> Verdicts(const PodBuilder& pod);
  std::string Verdict(const PodBuilder& pod, const std::string& node) { return Verdicts(pod).at(node); }
  // "Skip" if the plugin has no part in the filtering of such a pod, as PreFilter said it; else the status.
  std::string PreFilter(const PodBuilder& pod);
  using Scores = std::map<std::string, std::int64_t>;
  // Of the only plugin, by node; empty if it skipped.
  Scores RawScores(const PodBuilder& pod);
  Scores FinalScores(const PodBuilder& pod);

  // The node that an attempt chooses, from a view if there is one, checked against an evaluation of
  // everything; empty: none, or an error.
  std::string Schedule(const PodBuilder& pod);
  // How many rows filters looked at for that.
  std::size_t rows_judged() const { return engine_->view() == nullptr ? 0 : engine_->view()->rows_judged(); }

  // Of a pod that fits nowhere: Engine::likeness.
  std::uint64_t Likeness(const PodBuilder& pod);

  // What PostFilter comes to for a pod that fits nowhere.
  struct Room {
    std::string status;                // "" for a success, else as in Verdicts
    std::string message;               // of a success, too
    std::optional<std::string> node;   // nothing: the nomination is kept
    std::vector<std::string> victims;  // by name
    bool operator==(const Room&) const = default;
  };
  Room MakeRoom(const PodBuilder& pod);

  struct Event {
    framework::EventResource resource = framework::EventResource::kNode;
    framework::Actions actions = framework::kAdd;
    framework::EventObject old_object = {};
    framework::EventObject new_object = {};
  };
  // What the plugin's hints for the event say: "Queue", "Skip", "Error", or "not registered".
  std::string Hint(std::string_view plugin, const PodBuilder& waiting, const Event& event);

 private:
  Scores ScoresOf(const PodBuilder& pod,
                  std::vector<std::int64_t> framework::Explanation::PluginScores::* kind);

  framework::Features features_;
  framework::PluginArgs args_;
  cluster::Cluster cluster_;
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Engine> engine_;
  std::uint64_t step_ = 0;
};

std::string ShortText(const framework::Status& status);

}  // namespace berth::test
