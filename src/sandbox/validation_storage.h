#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/validation.h"

// What the API server checks about volumes, claims for them, their classes and the drivers of nodes.
namespace berth::sandbox {

void CheckVolume(const boost::json::object& document, FieldErrorList& errors);
void CheckVolumeUpdate(const boost::json::object& document, const boost::json::object& old,
                       FieldErrorList& errors);
void CheckClaim(const boost::json::object& document, FieldErrorList& errors);
void CheckClaimUpdate(const boost::json::object& document, const boost::json::object& old,
                      FieldErrorList& errors);
void CheckStorageClass(const boost::json::object& document, FieldErrorList& errors);
void CheckStorageClassUpdate(const boost::json::object& document, const boost::json::object& old,
                             FieldErrorList& errors);
void CheckCsiNode(const boost::json::object& document, FieldErrorList& errors);

}  // namespace berth::sandbox
