#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/validation.h"

// What the API server checks about pods, with its words (validation.h).
namespace berth::sandbox {

// A whole pod, or a template in a workload: `path` is where its spec stands ("spec", "spec.template.spec").
FieldErrorList ValidatePodSpec(const boost::json::object& spec, const std::string& path);
FieldErrorList ValidateNewPod(const boost::json::object& pod);

// Little of a pod may change once it exists: images, a shorter deadline, more tolerations, fewer gates, and
// where it may go as long as it is gated.
FieldErrorList ValidatePodUpdate(const boost::json::object& pod, const boost::json::object& old);
// Through /resize: the containers' CPU and memory, and nothing else.
FieldErrorList ValidatePodResize(const boost::json::object& pod, const boost::json::object& old);
FieldErrorList ValidatePodStatusUpdate(const boost::json::object& pod, const boost::json::object& old);

}  // namespace berth::sandbox
