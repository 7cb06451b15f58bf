#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "framework/observer.h"
#include "framework/profile.h"
#include "framework/status.h"

namespace berth::cycle {

// Points as they are measured: those that plugins are configured at, and two that belong to others.
enum class Point : std::uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr std::size_t kPointCount = 12;
inline constexpr std::size_t kCodeCount = 7;
std::string_view PointName(Point point);

// How long plugins took: each point in every attempt, each plugin in one attempt of ten. Names in the
// registry must be free.
class PluginMetrics {
 public:
  explicit PluginMetrics(base::MetricRegistry& registry);

  std::shared_ptr<base::Histogram> PointDuration(Point point, framework::Code code, std::string_view profile);
  std::shared_ptr<base::Counter> Evaluations(std::string_view plugin, Point point, std::string_view profile);
  std::shared_ptr<base::Histogram> PluginDuration(std::string_view plugin, Point point, framework::Code code);
  // How many tasks bind pods just now.
  void SetBindings(std::size_t count);

 private:
  base::HistogramFamily& point_duration_;
  base::HistogramFamily& plugin_duration_;
  base::CounterFamily& evaluations_;
  base::GaugeFamily& tasks_;
  std::shared_ptr<base::Gauge> bindings_;
};

// The points of one profile. Finding a series by its labels costs more than most points do, so they are kept.
class PointDurations {
 public:
  PointDurations(PluginMetrics& metrics, std::string profile, const base::Clock& clock)
      : metrics_(metrics), profile_(std::move(profile)), clock_(clock) {}

  void Observe(Point point, framework::Code code, base::Duration duration);
  const base::Clock& clock() const { return clock_; }
  PluginMetrics& metrics() { return metrics_; }

 private:
  PluginMetrics& metrics_;
  const std::string profile_;
  const base::Clock& clock_;
  std::array<std::shared_ptr<base::Histogram>, kPointCount * kCodeCount> series_;
};

// Measures the attempts of one profile, one at a time.
class AttemptObserver final : public framework::PluginObserver {
 public:
  AttemptObserver(PointDurations& points, const framework::Profile& profile)
      : points_(points), profile_(profile) {}

  // `measures_plugins`: also each call, which costs two looks at the clock.
  void BeginAttempt(bool measures_plugins) { measures_plugins_ = measures_plugins; }

  void Begin(framework::ExtensionPoint point, framework::PluginIndex plugin) override;
  void End(framework::ExtensionPoint point, framework::PluginIndex plugin, framework::Code code) override;
  void BeginPoint(framework::ExtensionPoint point) override;
  void EndPoint(framework::ExtensionPoint point, framework::Code code) override;

 private:
  // What is known of a plugin at a point; made when it is asked there.
  struct Series {
    std::shared_ptr<base::Counter> evaluations;
    std::array<std::shared_ptr<base::Histogram>, kCodeCount> durations;
  };
  Series& SeriesOf(Point point, framework::PluginIndex plugin);

  PointDurations& points_;
  const framework::Profile& profile_;
  bool measures_plugins_ = false;
  base::TimePoint plugin_began_;
  std::array<base::TimePoint, kPointCount> point_began_{};
  std::array<std::vector<Series>, kPointCount> series_;  // by plugin
};

// Around a point that no observer sees.
class PointTimer {
 public:
  PointTimer(PointDurations& points, Point point)
      : points_(points), point_(point), began_(points.clock().Now()) {}
  ~PointTimer() { points_.Observe(point_, code_, points_.clock().Now() - began_); }
  PointTimer(const PointTimer&) = delete;
  PointTimer& operator=(const PointTimer&) = delete;

  void SetCode(framework::Code code) { code_ = code; }

 private:
  PointDurations& points_;
  const Point point_;
  const base::TimePoint began_;
  framework::Code code_ = framework::Code::kSuccess;
};

}  // namespace berth::cycle
