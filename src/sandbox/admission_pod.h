#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "sandbox/admission.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

// How much a node may do without the pod: BestEffort, Burstable or Guaranteed.
std::string_view QosClass(const boost::json::object& pod);

void DefaultPod(boost::json::object& pod);

// Priority, tolerations and the first status of a new pod.
ApiResult<void> AdmitPod(boost::json::object& pod, const AdmissionContext& context);

// A pod that is resized must still fit on its node, if it were alone there.
ApiResult<void> CheckResizeFits(const boost::json::object& pod, const boost::json::object& old,
                                const AdmissionContext& context);

// Every pod stays five minutes on a node that is not ready or unreachable, unless it says otherwise.
void AddDefaultTolerations(boost::json::object& pod);

}  // namespace berth::sandbox
