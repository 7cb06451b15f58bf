#pragma once

#include <cstdint>
#include <span>

#include "cluster/ids.h"
#include "plugins/resource_allocation.h"

// The scores of many rows at once, by columns: what the functions for one row say, in vectors of doubles.
//
// Quotients of integers are exact in doubles as long as the divisor has at most 46 bits and the result at
// most 7: the quotient is then nowhere nearer to an integer, without being one, than a double can tell. Rows
// with amounts beyond that are scored one by one.
namespace berth::plugins {

// LeastAllocatedScore and BalanceScore of each row.
void LeastAllocatedScores(std::span<const ScoredResource> resources, std::span<const cluster::NodeRow> rows,
                          std::span<std::int64_t> scores);
void BalanceScores(std::span<const ScoredResource> resources, std::span<const cluster::NodeRow> rows,
                   std::span<std::int64_t> scores);

}  // namespace berth::plugins
