#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/validation.h"

// What the API server checks about kinds other than pods, with its words (validation.h). Kinds without rules
// here pass.
namespace berth::sandbox {

FieldErrorList ValidateKind(const Resource& resource, const boost::json::object& document);
FieldErrorList ValidateKindUpdate(const Resource& resource, const boost::json::object& document,
                                  const boost::json::object& old);

}  // namespace berth::sandbox
