#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/admission.h"

// Defaults and admission of kinds other than pods (admission.h).
namespace berth::sandbox {

// Does nothing for kinds that have no defaults. Idempotent.
void DefaultOtherKinds(const Resource& resource, boost::json::object& document);

// A claim without a class gets the default one.
void AdmitClaim(boost::json::object& claim, const AdmissionContext& context);
// A Service gets an address of its own.
void AdmitService(boost::json::object& service);
// A Job finds its pods by labels that no other Job has.
void AdmitJob(boost::json::object& job);

}  // namespace berth::sandbox
