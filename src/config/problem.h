#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::config {

// One thing that is wrong with a configuration: where, and the complete sentence of it, which mostly names
// the place too.
struct Problem {
  std::string path;  // "profiles[0].plugins.filter"; empty: the whole file
  std::string message;

  bool operator==(const Problem&) const = default;
};
using Problems = std::vector<Problem>;

// What stops a configuration. `message` is what kube-scheduler prints: of several problems sometimes only
// one.
struct Failure {
  std::string message;
  Problems problems;
};

// The messages as one: equal ones once, one alone as it is, more as "[A, B]".
std::string Aggregate(std::span<const Problem> problems);

}  // namespace berth::config
