#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/admission.h"

// What the server writes into a new pod for the sake of scheduling (admission_pod.h).
namespace berth::sandbox {

// Turns matchLabelKeys and mismatchLabelKeys of affinity terms and spread constraints into requirements of
// their selectors, with the pod's own values. Schedulers read the selectors only.
void FoldMatchLabelKeys(boost::json::object& pod);

// A pod that is created on a node gets the node's zone and region as labels, as a binding would give them.
void CopyTopologyLabels(boost::json::object& pod, const AdmissionContext& context);

}  // namespace berth::sandbox
