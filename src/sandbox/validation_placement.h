#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "sandbox/validation.h"

// What the API server checks about where a pod may go. `path` is where the pod's spec stands.
namespace berth::sandbox {

void CheckAffinity(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);
void CheckSchedulingGates(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);
void CheckSpread(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);
void CheckTolerations(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);

// A node selector with its terms, of a pod or of a volume; `path` is its own.
void CheckNodeSelector(const boost::json::object& selector, const std::string& path, FieldErrorList& errors);
// The taints of a node. Upstream looks for them in metadata, and says so.
void CheckTaints(const boost::json::object& node, FieldErrorList& errors);

}  // namespace berth::sandbox
