#include "cycle/plugin_metrics.h"

#include <chrono>

namespace berth::cycle {
namespace {

double SecondsOf(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Of those that an attempt goes through.
Point PointOf(framework::ExtensionPoint point) {
  switch (point) {
    case framework::ExtensionPoint::kPreFilter:
      return Point::kPreFilter;
    case framework::ExtensionPoint::kPreScore:
      return Point::kPreScore;
    case framework::ExtensionPoint::kScore:
      return Point::kScore;
    default:
      return Point::kFilter;
  }
}

}  // namespace

std::string_view PointName(Point point) {
  static constexpr std::string_view kNames[kPointCount] = {
      "PreFilter", "Filter", "PostFilter",       "PreScore", "Score", "Reserve",
      "Unreserve", "Permit", "PreBindPreFlight", "PreBind",  "Bind",  "PostBind"};
  return kNames[static_cast<std::size_t>(point)];
}

PluginMetrics::PluginMetrics(base::MetricRegistry& registry)
    : point_duration_(
          registry.AddHistograms({.name = "scheduler_framework_extension_point_duration_seconds",
                                  .help = "How long all plugins of an extension point took together.",
                                  .stability = base::Stability::kStable,
                                  .labels = {"extension_point", "status", "profile"},
                                  .buckets = base::ExponentialBuckets(0.0001, 2, 12)})),
      plugin_duration_(registry.AddHistograms(
          {.name = "scheduler_plugin_execution_duration_seconds",
           .help = "How long a plugin took at an extension point, in one attempt of ten.",
           .stability = base::Stability::kBeta,
           .labels = {"plugin", "extension_point", "status"},
           .buckets = base::ExponentialBuckets(0.00001, 1.5, 20)})),
      evaluations_(registry.AddCounters({.name = "scheduler_plugin_evaluation_total",
                                         .help = "How often a plugin was asked in attempts.",
                                         .stability = base::Stability::kBeta,
                                         .labels = {"plugin", "extension_point", "profile"}})),
      tasks_(registry.AddGauges({.name = "scheduler_goroutines",
                                 .help = "How many tasks do the same kind of work now.",
                                 .stability = base::Stability::kBeta,
                                 .labels = {"operation"}})) {}

std::shared_ptr<base::Histogram> PluginMetrics::PointDuration(Point point, framework::Code code,
                                                              std::string_view profile) {
  return point_duration_.With({PointName(point), framework::CodeName(code), profile});
}

std::shared_ptr<base::Counter> PluginMetrics::Evaluations(std::string_view plugin, Point point,
                                                          std::string_view profile) {
  return evaluations_.With({plugin, PointName(point), profile});
}

std::shared_ptr<base::Histogram> PluginMetrics::PluginDuration(std::string_view plugin, Point point,
                                                               framework::Code code) {
  return plugin_duration_.With({plugin, PointName(point), framework::CodeName(code)});
}

void PluginMetrics::SetBindings(std::size_t count) {
  if (bindings_ == nullptr) bindings_ = tasks_.With({"binding"});
  bindings_->Set(static_cast<double>(count));
}

void PointDurations::Observe(Point point, framework::Code code, base::Duration duration) {
  auto& series = series_[static_cast<std::size_t>(point) * kCodeCount + static_cast<std::size_t>(code)];
  if (series == nullptr) series = metrics_.PointDuration(point, code, profile_);
  series->Observe(SecondsOf(duration));
}

AttemptObserver::Series& AttemptObserver::SeriesOf(Point point, framework::PluginIndex plugin) {
  auto& known = series_[static_cast<std::size_t>(point)];
  if (known.size() <= plugin) known.resize(plugin + std::size_t{1});
  return known[plugin];
}

void AttemptObserver::Begin(framework::ExtensionPoint, framework::PluginIndex) {
  if (measures_plugins_) plugin_began_ = points_.clock().Now();
}

void AttemptObserver::End(framework::ExtensionPoint at, framework::PluginIndex plugin, framework::Code code) {
  const Point point = PointOf(at);
  Series& series = SeriesOf(point, plugin);
  const std::string_view name = profile_.plugin_names()[plugin];
  if (code != framework::Code::kSkip) {
    if (series.evaluations == nullptr) {
      series.evaluations = points_.metrics().Evaluations(name, point, profile_.scheduler_name());
    }
    series.evaluations->Increment();
  }
  if (!measures_plugins_) return;
  const base::Duration duration = points_.clock().Now() - plugin_began_;
  auto& durations = series.durations[static_cast<std::size_t>(code)];
  if (durations == nullptr) durations = points_.metrics().PluginDuration(name, point, code);
  durations->Observe(SecondsOf(duration));
}

void AttemptObserver::BeginPoint(framework::ExtensionPoint at) {
  point_began_[static_cast<std::size_t>(PointOf(at))] = points_.clock().Now();
}

void AttemptObserver::EndPoint(framework::ExtensionPoint at, framework::Code code) {
  const Point point = PointOf(at);
  points_.Observe(point, code, points_.clock().Now() - point_began_[static_cast<std::size_t>(point)]);
}

}  // namespace berth::cycle
