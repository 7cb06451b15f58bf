#pragma once

#include <cstdint>
#include <ostream>
#include <rapidcheck.h>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/naive_model.h"

namespace berth::cluster::test {

// One thing that happens to a cluster, as numbers that are read against small pools of names, so that
// histories collide often and shrink well.
struct Event {
  std::uint8_t kind = 0;
  std::uint8_t who = 0;
  std::uint8_t where = 0;
  std::uint8_t how = 0;

  friend std::ostream& operator<<(std::ostream& out, const Event& event) {
    return out << "{" << int{event.kind} << "," << int{event.who} << "," << int{event.where} << ","
               << int{event.how} << "}";
  }
};

using History = std::vector<Event>;
rc::Gen<History> AnyHistory();

// Applies the event to both. Checks that the cluster refuses what it must refuse.
void Apply(const Event& event, Cluster& cluster, NaiveModel& model);

// Placements, displacements and nominations of whatever pods are there.
void ApplySpeculatively(const Event& event, Cluster& cluster, Speculation& speculation);

// Removes every object.
void RemoveEverything(Cluster& cluster, NaiveModel& model);

// What topology plugins would ask about such a history.
const std::vector<NaiveModel::Question>& Questions();

}  // namespace berth::cluster::test
