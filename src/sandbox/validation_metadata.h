#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/validation.h"

// What the API server checks about the metadata of every kind.
namespace berth::sandbox {

// Of a new object, whose name has been made up already if it was to be.
void CheckNewMetadata(const Resource& resource, const boost::json::object& document, FieldErrorList& errors);
// Of a changed one. Its name and its uid are no concern here: they cannot have changed.
void CheckChangedMetadata(const Resource& resource, const boost::json::object& document,
                          const boost::json::object& old, FieldErrorList& errors);

}  // namespace berth::sandbox
