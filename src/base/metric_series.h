#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::base {

// The numbers that a metric holds. Any thread may change and read them; a change is an atomic operation or
// three.
//
// `touched` says whether there is something to show: a reset hides a series until its next change, while
// everybody who holds it can go on using it.
class MetricSeries {
 public:
  bool IsShown() const { return touched_.load(std::memory_order_relaxed); }

 protected:
  void Touch() {
    if (!touched_.load(std::memory_order_relaxed)) touched_.store(true, std::memory_order_relaxed);
  }
  void Hide() { touched_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> touched_ = true;
};

class Counter : public MetricSeries {
 public:
  void Increment() { Add(1); }
  void Add(double amount);
  double Value() const { return value_.load(std::memory_order_relaxed); }
  void Reset();

 private:
  std::atomic<double> value_ = 0;
};

class Gauge : public MetricSeries {
 public:
  void Set(double value);
  void Add(double amount);
  void Increment() { Add(1); }
  void Decrement() { Add(-1); }
  double Value() const { return value_.load(std::memory_order_relaxed); }
  void Reset();

 private:
  std::atomic<double> value_ = 0;
};

class Histogram : public MetricSeries {
 public:
  // Upper bounds, ascending; a last bucket without bound is added.
  explicit Histogram(std::vector<double> bounds);

  void Observe(double value);
  std::uint64_t Count() const;
  double Sum() const { return sum_.load(std::memory_order_relaxed); }
  std::span<const double> bounds() const { return bounds_; }
  // Observations at or below each bound, then all of them: bounds().size() + 1 numbers.
  std::vector<std::uint64_t> CumulativeCounts() const;
  void Reset();

 private:
  std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

// `count` bounds: start, start * factor, start * factor^2, …
std::vector<double> ExponentialBuckets(double start, double factor, std::size_t count);

}  // namespace berth::base
