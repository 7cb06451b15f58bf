#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/suite.h"

// What a run came to, for people and for programs.
namespace berth::bench {

// Aligned columns, one line per collection, then what did not run and why.
std::string TableText(std::span<const WorkloadReport> reports);

// One line per collection, or per workload without any, with a header.
std::string CsvText(std::span<const WorkloadReport> reports);

// A field of a CSV file, quoted where it has to be.
std::string CsvField(const std::string& text);

// The first column to the left, the others to the right, each as wide as it has to be.
std::string AlignedColumns(std::span<const std::vector<std::string>> lines);

// The form that Kubernetes' dashboards read: every item has every label that any item has.
std::string DataItemsJson(std::span<const WorkloadReport> reports);

// Where upstream would write that: the time is local, whatever its last letter says.
std::string DataItemsFileName(std::string_view topic, std::string_view local_time);

}  // namespace berth::bench
