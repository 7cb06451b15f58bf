#include "base/metric_series.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::base {

void Counter::Add(double amount) {
  BERTH_DCHECK(amount >= 0);
  value_.fetch_add(amount, std::memory_order_relaxed);
  Touch();
}

void Counter::Reset() {
  value_.store(0, std::memory_order_relaxed);
  Hide();
}

void Gauge::Set(double value) {
  value_.store(value, std::memory_order_relaxed);
  Touch();
}

void Gauge::Add(double amount) {
  value_.fetch_add(amount, std::memory_order_relaxed);
  Touch();
}

void Gauge::Reset() {
  value_.store(0, std::memory_order_relaxed);
  Hide();
}

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  BERTH_CHECK(std::ranges::is_sorted(bounds_));
}

void Histogram::Observe(double value) {
  const auto bound = std::ranges::lower_bound(bounds_, value);
  counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  Touch();
}

std::uint64_t Histogram::Count() const { return CumulativeCounts().back(); }

std::vector<std::uint64_t> Histogram::CumulativeCounts() const {
  std::vector<std::uint64_t> cumulative;
  cumulative.reserve(counts_.size());
  std::uint64_t total = 0;
  for (const std::atomic<std::uint64_t>& count : counts_) {
    total += count.load(std::memory_order_relaxed);
    cumulative.push_back(total);
  }
  return cumulative;
}

void Histogram::Reset() {
  for (std::atomic<std::uint64_t>& count : counts_) count.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  Hide();
}

std::vector<double> ExponentialBuckets(double start, double factor, std::size_t count) {
  std::vector<double> bounds;
  bounds.reserve(count);
  // Multiplied step by step: powers would differ in the last digit of a bound, and bounds are label values.
  for (std::size_t i = 0; i < count; ++i) {
    bounds.push_back(start);
    start *= factor;
  }
  return bounds;
}

}  // namespace berth::base
