#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/admission.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

void DefaultPod(boost::json::object& pod);

// Priority, tolerations and the first status of a new pod.
ApiResult<void> AdmitPod(boost::json::object& pod, const AdmissionContext& context);

// Every pod stays five minutes on a node that is not ready or unreachable, unless it says otherwise.
void AddDefaultTolerations(boost::json::object& pod);

}  // namespace berth::sandbox
