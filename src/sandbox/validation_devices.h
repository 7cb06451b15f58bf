#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/validation.h"

// What the API server checks about kinds of resource.k8s.io. Expressions are not compiled here: one that is
// broken is found by the scheduler.
namespace berth::sandbox {

void CheckDeviceClass(const boost::json::object& document, FieldErrorList& errors);
void CheckDeviceClaim(const boost::json::object& document, FieldErrorList& errors);
void CheckDeviceClaimTemplate(const boost::json::object& document, FieldErrorList& errors);

}  // namespace berth::sandbox
