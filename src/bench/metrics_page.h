#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/data_item.h"

namespace berth::bench {

// Observations by size: how many were at most so large.
struct Histogram {
  std::map<double, double> cumulative;  // by upper bound; the last may be infinite
  double sum = 0;
  double count = 0;

  void Add(const Histogram& other);
  // What came since then.
  Histogram Since(const Histogram& earlier) const;
  // As Kubernetes' own tools estimate it: evenly spread inside a bucket, and no further than the last finite
  // bound. Nothing without observations.
  std::optional<double> Quantile(double q) const;
};

// A page of metrics in the text form of Prometheus, as schedulers serve it. Lines that make no sense are
// passed over.
class MetricsPage {
 public:
  using Labels = std::map<std::string, std::string, std::less<>>;

  static MetricsPage Parse(std::string_view text);

  // The histograms of a family, those that agree in these labels added up. By the values of the labels, in
  // their order.
  std::map<std::vector<std::string>, Histogram> Histograms(std::string_view family,
                                                           const std::vector<std::string>& labels) const;
  // All series of a name together.
  double Sum(std::string_view name) const;
  bool empty() const { return samples_.empty(); }

 private:
  struct Sample {
    Labels labels;
    double value = 0;
  };

  std::map<std::string, std::vector<Sample>, std::less<>> samples_;
};

// The items that upstream reports for the histograms of a scheduler, in milliseconds. `path`: the name of the
// workload and the collection.
std::vector<DataItem> HistogramItems(const MetricsPage& page, const std::string& path);

}  // namespace berth::bench
