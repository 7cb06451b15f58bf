#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric_series.h"

namespace berth::base {

enum class Stability { kAlpha, kBeta, kStable };

struct MetricOptions {
  std::string name;
  std::string help;
  // Shown in front of the help text, [ALPHA] for example; nothing for metrics that promise nothing
  // (process_…).
  std::optional<Stability> stability = Stability::kAlpha;
  // "1.37.0"; empty if the metric is not deprecated.
  std::string deprecated_since = {};
  std::vector<std::string> labels = {};
  // Of histograms.
  std::vector<double> buckets = {};
};

// What all metrics of one name have in common. Series are shown in the order of their label values, labels in
// the order of their names.
class MetricFamilyBase {
 public:
  explicit MetricFamilyBase(MetricOptions options);
  virtual ~MetricFamilyBase() = default;

  const MetricOptions& options() const { return options_; }
  // From now on a series for another value of the label counts as "unexpected". False if there is no such
  // label.
  bool AllowLabelValues(std::string_view label, std::set<std::string, std::less<>> values);

  virtual void AppendText(std::string& out) const = 0;
  virtual void Reset() = 0;

 protected:
  // In the order of the label names, which is that of the output; callers give values in the order of
  // options().
  using SortedValues = std::vector<std::string>;
  SortedValues Sort(std::initializer_list<std::string_view> values) const;
  void AppendHeader(std::string& out, std::string_view type) const;
  std::string LabelText(const SortedValues& values) const;

  mutable std::mutex mutex_;

 private:
  MetricOptions options_;
  // sorted_labels_[i] = options_.labels[label_order_[i]]
  std::vector<std::size_t> label_order_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> allowed_;
};

// Metric is Counter, Gauge or Histogram. Look a series up once and keep it: the look-up takes a lock.
template <class Metric>
class MetricFamily final : public MetricFamilyBase {
 public:
  using MetricFamilyBase::MetricFamilyBase;

  // Made, and shown from then on, if it was not there. One value per label, in the order of the options.
  std::shared_ptr<Metric> With(std::initializer_list<std::string_view> values);
  // Null if it is not there.
  std::shared_ptr<Metric> Find(std::initializer_list<std::string_view> values) const;
  // Whoever still holds the series may use it; it is not shown any more. False if it was not there.
  bool Delete(std::initializer_list<std::string_view> values);

  void AppendText(std::string& out) const override;
  // Empties every series and hides it until its next change. A metric without labels: as kube-scheduler,
  // counters start again at 0 and the others keep their value.
  void Reset() override;

 private:
  std::shared_ptr<Metric> Make() const;

  std::map<SortedValues, std::shared_ptr<Metric>> series_;
};

using CounterFamily = MetricFamily<Counter>;
using GaugeFamily = MetricFamily<Gauge>;
using HistogramFamily = MetricFamily<Histogram>;

// All metrics of a process, or of a test, in the Prometheus text format. Names are unique. Families and their
// metrics live as long as the registry.
class MetricRegistry {
 public:
  CounterFamily& AddCounters(MetricOptions options);
  GaugeFamily& AddGauges(MetricOptions options);
  HistogramFamily& AddHistograms(MetricOptions options);
  // Without labels: there from the start.
  Counter& AddCounter(MetricOptions options);
  Gauge& AddGauge(MetricOptions options);
  Histogram& AddHistogram(MetricOptions options);

  // Null if there is no such metric.
  MetricFamilyBase* Find(std::string_view name);
  // Counts on but is not shown. False if there is no such metric.
  bool Hide(std::string_view name);
  // Called before each exposition, to set what nobody counts as it happens.
  void OnCollect(std::function<void()> update);

  // Families by name; one without series prints nothing.
  std::string Text() const;
  void Reset();

 private:
  struct Entry {
    std::unique_ptr<MetricFamilyBase> family;
    bool hidden = false;
  };
  template <class Metric>
  MetricFamily<Metric>& Add(MetricOptions options);

  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> families_;
  std::vector<std::function<void()>> updates_;
};

}  // namespace berth::base
