#include "plugins/device_harness.h"

#include <fmt/format.h>

#include "base/check.h"
#include "dra/claim_cache.h"
#include "plugins/all_plugins.h"
#include "plugins/plugin_harness.h"
#include "plugins/plugin_metrics.h"

namespace berth::test {
namespace {

class NoBinding final : public framework::ApiWriter {
 public:
  explicit NoBinding(std::vector<std::string>& notes) : notes_(notes) {}

  base::Task<base::Result<void>> Bind(api::Binding) override { co_return base::Fail("nobody binds here"); }
  void Tell(const framework::Assignment&, framework::PodNote note) override {
    notes_.push_back(note.reason + ": " + note.text);
  }

 private:
  std::vector<std::string>& notes_;
};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::string FakeClaimServer::WordFor(const framework::ObjectWrite& write) const {
  return std::visit(
      Overloaded{
          [](const framework::BindClaim& bind) { return "bind " + bind.claim->metadata.name; },
          [](const framework::DeallocateClaim& one) { return "deallocate " + one.claim->metadata.name; },
          [](const framework::UnreserveClaim& one) { return "unreserve " + one.claim.name; },
          [](const framework::CreateClaim&) { return std::string("create"); },
          [](const framework::DeleteClaim& one) { return "delete " + one.claim->metadata.name; },
          [](const framework::SetExtendedResourceClaim& one) {
            return "status " + one.status.resource_claim_name;
          },
          [](const auto&) { return std::string("another"); }},
      write);
}

base::Result<cluster::AnyObject> FakeClaimServer::Do(const framework::ObjectWrite& write) {
  writes.push_back(WordFor(write));
  if (!failing.empty() && writes.back().starts_with(failing)) return base::Fail("the server says no");
  if (const auto* const bind = std::get_if<framework::BindClaim>(&write)) {
    auto claim = std::make_shared<api::ResourceClaim>(*bind->claim);
    claim->metadata.resource_version = std::to_string(++version_);
    if (bind->allocation) claim->status.allocation = last_allocation = bind->allocation;
    claim->status.reserved_for.push_back(bind->consumer);
    return cluster::AnyObject(dra::ClaimRef(std::move(claim)));
  }
  if (const auto* const create = std::get_if<framework::CreateClaim>(&write)) {
    auto claim = std::make_shared<api::ResourceClaim>(*create->claim);
    claim->metadata.name = fmt::format("{}{}", claim->metadata.generate_name, ++created_);
    claim->metadata.uid = claim->metadata.name + "-uid";
    claim->metadata.resource_version = std::to_string(++version_);
    return cluster::AnyObject(dra::ClaimRef(std::move(claim)));
  }
  return cluster::AnyObject();
}

base::Task<base::Result<cluster::AnyObject>> FakeClaimServer::Write(framework::ObjectWrite write) {
  co_return Do(write);
}

void FakeClaimServer::Post(framework::ObjectWrite write) { static_cast<void>(Do(write)); }

DeviceHarness::DeviceHarness(framework::DynamicResourcesArgs args, framework::Features features)
    : features_(features),
      cluster_({.resources = features.ForResources()}),
      api_(std::make_unique<NoBinding>(notes)) {
  args_.dynamic_resources = args;
  cluster_.UseExtension<plugins::PluginMetrics>().Show(metrics_);
  const framework::Registry registry = plugins::AllPlugins();
  const framework::PluginSetup setup{features_, args_, cluster_, &server_};
  const std::vector<framework::EnabledPlugin> enabled = {{"NodeResourcesFit", 1}, {"DynamicResources", 2}};
  auto config = framework::ExpandEverywhere(enabled, registry, setup);
  BERTH_CHECK(config.has_value());
  config->args = args_;
  auto profile = framework::Profile::Make(*config, registry, setup, rejections_);
  BERTH_CHECK(profile.has_value());
  profile_ = *std::move(profile);
  framework::EngineOptions options;
  options.verify_views = true;
  engine_ = std::make_unique<framework::Engine>(cluster_, *profile_, rejections_, options);
}

DeviceHarness::~DeviceHarness() = default;

double DeviceHarness::Counter(std::string_view name, std::initializer_list<std::string_view> labels) {
  const auto series = dynamic_cast<base::CounterFamily&>(*metrics_.Find(name)).Find(labels);
  return series == nullptr ? 0 : series->Value();
}

std::uint64_t DeviceHarness::Observations(std::string_view name,
                                          std::initializer_list<std::string_view> labels) {
  const auto series = dynamic_cast<base::HistogramFamily&>(*metrics_.Find(name)).Find(labels);
  return series == nullptr ? 0 : series->Count();
}

DeviceHarness& DeviceHarness::Add(const api::Node& node) {
  cluster_.SetNode(std::make_shared<const api::Node>(node));
  return *this;
}

void DeviceHarness::See(const std::string& claim) {
  cluster_.objects().Of<api::ResourceClaim>().Set(state().claims().Find("default", claim));
}

cluster::PodSlot DeviceHarness::SlotOf(const PodBuilder& pod) {
  const auto record = pod.Record();
  BERTH_CHECK(cluster_.SetPending(record).has_value());
  return cluster_.pods().Find(record->uid);
}

const framework::Plugin& DeviceHarness::plugin() const { return *profile_->post_filter().front().plugin; }

std::string DeviceHarness::PreEnqueue(const PodBuilder& pod) {
  return ShortText(profile_->pre_enqueue().front().point->PreEnqueue({cluster_, SlotOf(pod)}));
}

std::string DeviceHarness::Schedule(const PodBuilder& pod) {
  const framework::Outcome outcome = engine_->SchedulePod({.pod = SlotOf(pod), .step = ++step_});
  diagnosis_.reset();
  if (const auto* const decision = std::get_if<framework::Decision>(&outcome)) {
    return std::string(cluster_.nodes().name(decision->row));
  }
  if (const auto* const diagnosis = std::get_if<framework::Diagnosis>(&outcome)) {
    diagnosis_ = *diagnosis;
    return framework::FitErrorMessage(*diagnosis);
  }
  return std::get<framework::Status>(outcome).Message();
}

std::string DeviceHarness::PostFilter() {
  return ShortText(profile_->post_filter().front().point->PostFilter(engine_->cycle(), *diagnosis_).status);
}

std::map<std::string, std::int64_t> DeviceHarness::Scores(const PodBuilder& pod) {
  const framework::Explanation explanation = engine_->Explain({.pod = SlotOf(pod), .step = ++step_});
  std::map<std::string, std::int64_t> scores;
  for (const auto& column : explanation.scores) {
    if (column.plugin != "DynamicResources") continue;
    for (std::size_t i = 0; i < explanation.feasible.size(); ++i) {
      scores[std::string(cluster_.nodes().name(explanation.feasible[i]))] =
          column.weighted[i] / column.weight;
    }
  }
  return scores;
}

std::string DeviceHarness::Reserve(const PodBuilder& pod, const std::string& node) {
  const cluster::PodSlot slot = cluster_.pods().Find(pod.Record()->uid);
  const cluster::NodeRow row = cluster_.nodes().Find(node);
  assignment_.emplace(framework::Assignment{.pod = cluster_.pods().Version(slot),
                                            .record = cluster_.pods().facts(slot).record,
                                            .row = cluster_.nodes().Version(row),
                                            .node_name = node,
                                            .data = engine_->cycle().TakeData()});
  return ShortText(profile_->reserve().front().point->Reserve(cluster_, *assignment_));
}

base::Task<void> DeviceHarness::RunPreBind() {
  pre_bind_ = co_await profile_->pre_bind().front().point->PreBind(*context_, *assignment_);
}

std::string DeviceHarness::PreBind() {
  pre_bind_.reset();
  context_.emplace(framework::BindingContext{cluster_, *api_, executor_, {}});
  executor_.Spawn(RunPreBind());
  executor_.RunReady();
  return pre_bind_ ? ShortText(*pre_bind_) : "waits";
}

std::string DeviceHarness::Continue(base::Duration after) {
  clock_.Advance(after);
  executor_.RunReady();
  return pre_bind_ ? ShortText(*pre_bind_) : "waits";
}

void DeviceHarness::Unreserve() { profile_->reserve().front().point->Unreserve(cluster_, *assignment_); }

std::string DeviceHarness::Hint(const PodBuilder& pod, framework::EventResource resource,
                                framework::EventObject before, framework::EventObject after) {
  const cluster::PodSlot slot = SlotOf(pod);
  const auto& point = dynamic_cast<const framework::EnqueuePoint&>(plugin());
  for (const framework::EventRegistration& registration : point.EventsToRegister()) {
    if (registration.event.resource != resource || !registration.hint) continue;
    const auto hint = registration.hint({cluster_, slot, before, after});
    if (!hint) return "Error";
    return *hint == framework::Hint::kQueue ? "Queue" : "Skip";
  }
  return "not registered";
}

std::string DeviceHarness::PreHint(const api::ResourceClaim* before, const api::ResourceClaim* after) {
  const auto object = [](const api::ResourceClaim* claim) {
    return claim == nullptr ? framework::EventObject() : framework::EventObject(claim);
  };
  const auto& point = dynamic_cast<const framework::EnqueuePoint&>(plugin());
  for (const framework::EventRegistration& registration : point.EventsToRegister()) {
    if (!registration.pre_hint) continue;
    const auto hint = registration.pre_hint({cluster_, object(before), object(after)});
    if (!hint || hint->all_pods) return "all";
    std::string names;
    for (const auto& [namespace_, name] : hint->pods) names += (names.empty() ? "" : " ") + name;
    return names;
  }
  return "not registered";
}

}  // namespace berth::test
