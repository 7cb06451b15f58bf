#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "api/pod_record.h"
#include "base/bitset.h"
#include "base/check.h"
#include "cluster/cluster.h"
#include "framework/features.h"
#include "framework/node_selection.h"
#include "framework/plan.h"
#include "framework/plugin.h"
#include "framework/rejections.h"
#include "framework/status.h"

namespace berth::framework {

class PluginObserver;
class Profile;

enum class Nominations : std::uint8_t { kIgnore, kCount };

// Of one row, by all filters: the first refusal, or an error that fails the attempt.
struct RowVerdict {
  RejectionId refusal;
  Status error;

  bool fits() const { return !refusal.IsRefusal() && error.IsSuccess(); }
};

// What a plugin may ask the engine inside an attempt, mostly in a speculation of its own.
class RowJudge {
 public:
  virtual ~RowJudge() = default;
  // Does the pod of the attempt fit on this row now? Filters that PreFilter skipped stay skipped, as upstream
  // has it.
  virtual RowVerdict JudgeRow(cluster::NodeRow row, Nominations nominations) = 0;
  // 0 to bound - 1, from the engine's generator.
  virtual std::uint64_t Draw(std::uint64_t bound) = 0;
};

// The kubelet put off a resize of this pod. The first condition of that type speaks, whatever its status.
bool IsResizeDeferred(const api::PodRecord& pod);

// One attempt to schedule one pod: what plugins read, and where they find what they prepared.
//
// There is one Cycle per profile and it is used again and again: Begin() keeps all memory, so an attempt on a
// warm view allocates nothing per node. Everything in it is good until the next Begin(); what a binding needs
// longer is moved out by TakeData().
//
// The cluster is read live. The engine may have a speculation open while a plugin runs: a plugin cannot tell
// and need not.
class Cycle {
 public:
  Cycle(const Profile& profile, cluster::Cluster& cluster, RejectionTable& rejections);
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  struct Subject {
    cluster::PodSlot pod;
    // Grows from attempt to attempt: the time by which unused indexes are collected.
    std::uint64_t step = 0;
    // In place of the record's spec.nodeName, which is mostly empty for a pod that is tried; if not empty.
    std::string_view node_name = {};
    // Is told of every call to a plugin; for attempts that are measured.
    PluginObserver* observer = nullptr;
    // Others have a say in who is evicted: PostFilter names candidates instead of choosing one.
    bool shows_candidates = false;
  };
  void Begin(const Subject& subject);

  const Profile& profile() const { return profile_; }
  const Features& features() const;
  const cluster::Cluster& cluster() const { return cluster_; }
  // For indexes on demand (UseCounter, UseTally, UseEligibility, Touch, topology keys) and for speculation.
  // Plugins change nothing else.
  cluster::Cluster& indexes() const { return cluster_; }
  std::uint64_t step() const { return subject_.step; }
  bool shows_candidates() const { return subject_.shows_candidates; }

  cluster::PodSlot pod() const { return subject_.pod; }
  const cluster::PodFacts& facts() const { return cluster_.pods().facts(subject_.pod); }
  const api::PodRecord& record() const { return *facts().record; }
  const api::PodSpec& spec() const { return record().spec->spec; }
  const cluster::Requests& requests() const { return cluster_.requests(subject_.pod); }
  // The node that the pod itself names.
  std::string_view node_name() const {
    return subject_.node_name.empty() ? std::string_view(record().node_name) : subject_.node_name;
  }
  std::int32_t priority() const { return facts().priority; }
  // The kubelet put off a resize of this pod, and the gate for preempting on its behalf is on: most plugins
  // let such a pod pass.
  bool resize_deferred() const { return resize_deferred_; }

  // What the plugin made; it must have made one of this type.
  template <class T>
  T& PlanOf(const Plugin& plugin) const {
    BERTH_DCHECK(dynamic_cast<T*>(plans_[plugin.index()]) != nullptr);
    return static_cast<T&>(*plans_[plugin.index()]);
  }
  template <class T>
  T& StateOf(const Plugin& plugin) const {
    BERTH_DCHECK(dynamic_cast<T*>(states_[plugin.index()]) != nullptr);
    return static_cast<T&>(*states_[plugin.index()]);
  }
  // Null if there is none.
  bool HasState(const Plugin& plugin) const { return states_[plugin.index()] != nullptr; }

  // What the plugin remembers of this pod until it is bound. Null before the first Emplace of the attempt.
  template <class T>
  T* DataOf(const Plugin& plugin) const {
    return static_cast<T*>(data_[plugin.index()].get());
  }
  template <class T, class... Args>
  T& EmplaceData(const Plugin& plugin, Args&&... args) {
    auto data = std::make_unique<T>(std::forward<Args>(args)...);
    T& made = *data;
    data_[plugin.index()] = std::move(data);
    return made;
  }
  using Data = std::vector<std::unique_ptr<CycleData>>;  // by PluginIndex
  Data TakeData();

  // Pods that a plugin wants tried at once when the cycle ends.
  void Activate(cluster::PodSlot pod) { to_activate_.push_back(cluster_.pods().Version(pod)); }
  std::span<const base::Versioned<cluster::PodSlot>> to_activate() const { return to_activate_; }

  RowJudge& judge() const { return *judge_; }

  // For the engine.
  // ------------------------------------------------------------------------------------------------------
  RejectionTable& rejections() const { return rejections_; }
  PluginObserver* observer() const { return subject_.observer; }
  // By row, for attempts without a view. Begin makes room; whoever judges clears it first.
  std::span<RejectionId> refusals() { return refusals_; }
  std::span<const RejectionId> refusals() const { return refusals_; }
  base::Bitset& rows() { return rows_; }
  std::vector<cluster::NodeRow>& row_list() { return row_list_; }
  std::vector<std::int64_t>& scores() { return scores_; }
  Scope& scope() { return scope_; }
  StateChanges& state_changes() { return state_changes_; }
  void SetJudge(RowJudge& judge) { judge_ = &judge; }
  void SetPlans(std::span<Plan* const> plans) { plans_ = plans; }
  void SetStates(std::span<State* const> states) { states_ = states; }
  const Plan* plan(PluginIndex plugin) const { return plans_[plugin]; }
  State* state(PluginIndex plugin) const { return states_[plugin]; }
  void MarkSkipped(PluginIndex plugin) { skipped_.Set(plugin); }
  // PreFilter said Skip.
  bool IsSkipped(PluginIndex plugin) const { return skipped_.Test(plugin); }

 private:
  const Profile& profile_;
  cluster::Cluster& cluster_;
  RejectionTable& rejections_;
  RowJudge* judge_ = nullptr;
  Subject subject_;
  bool resize_deferred_ = false;
  std::span<Plan* const> plans_;    // by PluginIndex; null: the plugin made none
  std::span<State* const> states_;  // by PluginIndex; null: the plugin has none
  Data data_;
  std::vector<base::Versioned<cluster::PodSlot>> to_activate_;
  base::Bitset skipped_;
  base::Bitset rows_;
  std::vector<RejectionId> refusals_;
  std::vector<cluster::NodeRow> row_list_;
  std::vector<std::int64_t> scores_;
  Scope scope_;
  StateChanges state_changes_;
};

}  // namespace berth::framework
