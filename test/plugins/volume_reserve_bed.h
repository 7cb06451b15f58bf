#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "framework/binding_points.h"
#include "framework/decide.h"
#include "framework/object_writes.h"
#include "plugins/all_plugins.h"
#include "plugins/plugin_metrics.h"
#include "plugins/volume_bed.h"
#include "plugins/volume_binding_caches.h"

// From a chosen node to bound volumes, on a server that only answers.
namespace berth::plugins::test {

using framework::Status;

// A server that stores what it is asked to and gives each object a new version. The test tells the cluster.
class FakeServer final : public framework::ObjectWriter {
 public:
  base::Task<base::Result<cluster::AnyObject>> Write(framework::ObjectWrite write) override {
    ++attempts;
    if (attempts == fail_at) co_return base::Fail("the object has been modified");
    if (const auto* const reserve = std::get_if<framework::ReserveVolume>(&write)) {
      co_return Store(*reserve);
    }
    co_return Store(std::get<framework::SelectVolumeNode>(write));
  }
  void Post(framework::ObjectWrite) override {}

  int attempts = 0;
  int fail_at = 0;
  std::vector<VolumeRef> volumes;
  std::vector<ClaimRef> claims;

 private:
  base::Result<cluster::AnyObject> Store(const framework::ReserveVolume& write) {
    auto stored = std::make_shared<api::PersistentVolume>(*write.volume);
    stored->spec.claim_ref.emplace();
    stored->spec.claim_ref->namespace_ = write.claim->metadata.namespace_;
    stored->spec.claim_ref->name = write.claim->metadata.name;
    stored->spec.claim_ref->uid = write.claim->metadata.uid;
    stored->metadata.resource_version = "10";
    volumes.push_back(stored);
    return cluster::AnyObject(volumes.back());
  }
  base::Result<cluster::AnyObject> Store(const framework::SelectVolumeNode& write) {
    auto stored = std::make_shared<api::PersistentVolumeClaim>(*write.claim);
    stored->metadata.annotations.insert_or_assign(std::string("volume.kubernetes.io/selected-node"),
                                                  write.node);
    stored->metadata.resource_version = "10";
    claims.push_back(stored);
    return cluster::AnyObject(claims.back());
  }
};

class NoApi final : public framework::ApiWriter {
 public:
  base::Task<base::Result<void>> Bind(api::Binding) override { co_return base::Fail("not here"); }
};

inline base::Task<void> RunPreBind(const framework::PreBindPoint& point, framework::BindingContext& context,
                                   framework::Assignment& assignment, Status& status) {
  status = co_await point.PreBind(context, assignment);
}

class ReserveTest : public testing::Test {
 protected:
  explicit ReserveTest(std::int64_t timeout_seconds = 600) {
    args_.volume_binding.bind_timeout_seconds = timeout_seconds;
    cluster_.UseExtension<PluginMetrics>().Show(metrics_);
    const framework::Registry registry = AllPlugins();
    const framework::PluginSetup setup{features_, args_, cluster_, &server_};
    const auto config = framework::ExpandEverywhere({{{"VolumeBinding", 1}}}, registry, setup);
    profile_ = framework::Profile::Make(*config, registry, setup, rejections_).value();
    engine_ =
        std::make_unique<framework::Engine>(cluster_, *profile_, rejections_, framework::EngineOptions{});
    for (const char* const name : {"n1", "n2"}) cluster_.SetNode(MakeNode(name).Hostname().Ref());
    Set(MakeClass("local", kNoProvisioner));
    Set(MakeClass("made", "csi.example.com"));
  }

  template <class T>
  void Set(const T& object) {
    cluster_.objects().Of<T>().Set(std::make_shared<const T>(object));
  }
  void Set(const ClaimBuilder& claim) { Set<api::PersistentVolumeClaim>(claim); }
  void Set(const VolumeBuilder& volume) { Set<api::PersistentVolume>(volume); }
  static VolumeBuilder Local(const char* name, const char* node, const char* capacity) {
    return MakeVolume(name).Class("local").Capacity(capacity).Affinity(kHost, {node});
  }

  const framework::ReservePoint& reserve() const { return *profile_->reserve().front().point; }
  const framework::PreBindPoint& pre_bind() const { return *profile_->pre_bind().front().point; }
  VolumeCaches& caches() { return cluster_.UseExtension<VolumeCaches>(); }
  VolumeRef Volume(const char* name) { return caches().volumes().Get({}, name); }
  ClaimRef Claim(const char* name) { return caches().claims().Get("default", name); }

  // Chooses a node and takes the pod there, as a scheduling cycle does.
  framework::Assignment Assign(const PodBuilder& pod) {
    const auto record = pod.Record();
    EXPECT_TRUE(cluster_.SetPending(record).has_value());
    const cluster::PodSlot slot = cluster_.pods().Find(record->uid);
    const framework::Outcome outcome = engine_->SchedulePod({.pod = slot, .step = ++step_});
    framework::Assignment assignment;
    assignment.pod = cluster_.pods().Version(slot);
    assignment.record = record;
    const auto* const decision = std::get_if<framework::Decision>(&outcome);
    EXPECT_NE(decision, nullptr);
    if (decision == nullptr) return assignment;
    assignment.row = cluster_.nodes().Version(decision->row);
    assignment.node_name = cluster_.nodes().name(decision->row);
    assignment.data = engine_->cycle().TakeData();
    EXPECT_TRUE(cluster_.Assume(slot, assignment.node_name).has_value());
    return assignment;
  }

  // Why the pod fits nowhere, or the error; "" if it fits.
  std::string Refusal(const PodBuilder& pod) {
    const auto record = pod.Record();
    EXPECT_TRUE(cluster_.SetPending(record).has_value());
    const framework::Outcome outcome =
        engine_->SchedulePod({.pod = cluster_.pods().Find(record->uid), .step = ++step_});
    if (const auto* const diagnosis = std::get_if<framework::Diagnosis>(&outcome)) {
      return framework::FitErrorMessage(*diagnosis);
    }
    const auto* const error = std::get_if<Status>(&outcome);
    return error == nullptr ? "" : error->Message();
  }

  void StartPreBind(framework::Assignment& assignment) {
    executor_.Spawn(RunPreBind(pre_bind(), context_, assignment, status_));
    executor_.RunReady();
  }
  void Advance(base::Duration by) {
    clock_.Advance(by);
    executor_.RunReady();
  }
  bool IsWaiting() const { return status_.IsWait(); }

  // How often a stage ended in an error.
  double Errors(const char* stage) {
    auto* const family =
        dynamic_cast<base::CounterFamily*>(metrics_.Find("scheduler_volume_scheduling_stage_error_total"));
    const auto counter = family->Find({stage});
    return counter == nullptr ? 0 : counter->Value();
  }

  base::MetricRegistry metrics_;
  framework::Features features_ = framework::Features::Upstream();
  framework::PluginArgs args_;
  cluster::Cluster cluster_;
  FakeServer server_;
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Engine> engine_;
  std::uint64_t step_ = 0;
  base::VirtualClock clock_;
  base::Executor executor_{clock_};
  NoApi api_;
  framework::BindingContext context_{cluster_, api_, executor_, {}};
  Status status_{framework::Code::kWait};
};

}  // namespace berth::plugins::test
