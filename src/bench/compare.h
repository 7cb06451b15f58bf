#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/data_item.h"

// Two schedulers side by side, from the items that their runs reported.
namespace berth::bench {

// What speaks for a scheduler. Neither: the number explains the others.
enum class Better : std::uint8_t { kLess, kMore, kNeither };

// Something by which schedulers are compared.
struct Quantity {
  const char* title;
  const char* metric;
  const char* bucket;
  Better better;
};
std::span<const Quantity> ComparedQuantities();

// How many times better the first side is than the second: the ratio of each pair of runs, never of averages.
struct Ratio {
  double median = 0;
  double least = 0;
  double most = 0;
  std::size_t pairs = 0;
};

// One quantity of one workload: what each run of either side came to, in the order of the runs.
struct ComparedRow {
  const Quantity* quantity = nullptr;
  std::array<std::vector<double>, 2> values;

  // Of runs of the same place; pairs in which one side has nothing are left out. Nothing without pairs, and
  // of what is better neither way.
  std::optional<Ratio> RatioOfPairs() const;
};

struct ComparedWorkload {
  std::string name;  // "case/workload/collection"
  std::vector<ComparedRow> rows;

  // Null: nobody measured it.
  const ComparedRow* Find(std::string_view metric, std::string_view bucket) const;
};

using SideNames = std::array<std::string, 2>;

// Workloads that both sides have, in the order of the first.
std::vector<ComparedWorkload> CompareItems(std::span<const DataItem> first, std::span<const DataItem> second);
// The same of one side; the other has no values.
std::vector<ComparedWorkload> WorkloadsOf(std::span<const DataItem> items);

// The items of a file in upstream's form. Errors name `path`.
base::Result<std::vector<DataItem>> ParseDataItems(std::string_view text, const std::string& path);

// The middle one, or the mean of the two in the middle. There is at least one.
double Median(std::vector<double> values);

// "4.6"; losses have two digits behind the point: what matters is how far they are from nothing.
std::string FactorText(double factor);
// With the range of the pairs behind it, if there are several: "9.4 (8.8-9.9)".
std::string RatioText(const Ratio& ratio);
// The geometric mean of the ratios of all workloads that have one.
std::optional<double> MeanRatio(std::span<const ComparedWorkload> workloads, std::string_view metric,
                                std::string_view bucket);
// The names without the collection at their end, as far as that leaves them different.
std::vector<std::string> ShortNames(std::span<const ComparedWorkload> workloads);

// One line per workload: medians of both sides, ratios with their spread; then the geometric mean of the
// ratios.
std::string CompareTable(const SideNames& names, std::span<const ComparedWorkload> workloads);
// One line per workload and quantity: what the table above has no room for.
std::string CompareDetails(const SideNames& names, std::span<const ComparedWorkload> workloads);
// One line per workload and quantity, with every run.
std::string CompareCsv(const SideNames& names, std::span<const ComparedWorkload> workloads);

}  // namespace berth::bench
