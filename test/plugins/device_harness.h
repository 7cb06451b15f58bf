#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "cluster/cluster.h"
#include "dra/device_bed.h"
#include "framework/binding_points.h"
#include "framework/decide.h"
#include "framework/object_writes.h"
#include "framework/profile.h"
#include "support/builders.h"

namespace berth::test {

// A server that does what it is asked at once, unless told to fail. The watch shows nothing by itself.
class FakeClaimServer final : public framework::ObjectWriter {
 public:
  explicit FakeClaimServer(cluster::Cluster& cluster) : cluster_(cluster) {}

  base::Task<base::Result<cluster::AnyObject>> Write(framework::ObjectWrite write) override;
  void Post(framework::ObjectWrite write) override;

  // Each write in a word: "bind c", "deallocate c", "unreserve c", "create", "delete c", "status c".
  std::vector<std::string> writes;
  std::string failing;  // a write whose word begins so fails
  std::optional<api::AllocationResult> last_allocation;

 private:
  std::string WordFor(const framework::ObjectWrite& write) const;
  base::Result<cluster::AnyObject> Do(const framework::ObjectWrite& write);

  cluster::Cluster& cluster_;
  int created_ = 0;
  int version_ = 100;
};

// DynamicResources, and Fit before it, from PreEnqueue to PreBind.
class DeviceHarness {
 public:
  explicit DeviceHarness(framework::DynamicResourcesArgs args = {},
                         framework::Features features = framework::Features::Upstream());
  ~DeviceHarness();

  cluster::Cluster& cluster() { return cluster_; }
  FakeClaimServer& server() { return server_; }
  dra::DeviceState& state() { return cluster_.UseExtension<dra::DeviceState>(); }
  base::VirtualClock& clock() { return clock_; }
  // 0 for a series that is not there.
  double Counter(std::string_view name, std::initializer_list<std::string_view> labels);
  std::uint64_t Observations(std::string_view name, std::initializer_list<std::string_view> labels);
  // What users were told, "reason: text" each.
  std::vector<std::string> notes;

  DeviceHarness& Add(const api::Node& node);
  template <class T>
  DeviceHarness& Add(const T& object) {
    cluster_.objects().Of<T>().Set(std::make_shared<const T>(object));
    return *this;
  }
  // The watch catches up with what the server has.
  void See(const std::string& claim);

  cluster::PodSlot SlotOf(const PodBuilder& pod);
  std::string PreEnqueue(const PodBuilder& pod);
  // The node, or the refusals of all nodes as one text, or the error.
  std::string Schedule(const PodBuilder& pod);
  std::string PostFilter();
  std::map<std::string, std::int64_t> Scores(const PodBuilder& pod);
  // After Schedule: what Reserve and PreBind say; "" is success, "waits" is no answer yet.
  std::string Reserve(const PodBuilder& pod, const std::string& node);
  std::string PreBind();
  std::string Continue(base::Duration after);
  void Unreserve();
  std::string Hint(const PodBuilder& pod, framework::EventResource resource, framework::EventObject before,
                   framework::EventObject after);
  // "all", or the names of the pods.
  std::string PreHint(const api::ResourceClaim* before, const api::ResourceClaim* after);
  const framework::Plugin& plugin() const;

 private:
  base::Task<void> RunPreBind();

  framework::Features features_;
  framework::PluginArgs args_;
  base::MetricRegistry metrics_;
  base::VirtualClock clock_;
  base::Executor executor_{clock_};
  cluster::Cluster cluster_;
  FakeClaimServer server_{cluster_};
  framework::RejectionTable rejections_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Engine> engine_;
  std::uint64_t step_ = 0;
  std::optional<framework::Diagnosis> diagnosis_;
  std::optional<framework::Assignment> assignment_;
  std::unique_ptr<framework::ApiWriter> api_;
  std::optional<framework::BindingContext> context_;
  std::optional<framework::Status> pre_bind_;
};

}  // namespace berth::test
