#pragma once

#include <boost/json/fwd.hpp>
#include <string>

// A pod in the words of `kubectl get pods`.
namespace berth::sandbox {

std::string PodReady(const boost::json::object& pod);     // "1/2"
std::string PodStatus(const boost::json::object& pod);    // "Running", "SchedulingGated", "Terminating"
std::string PodRestarts(const boost::json::object& pod);  // "0"
std::string PodReadinessGates(const boost::json::object& pod);

}  // namespace berth::sandbox
