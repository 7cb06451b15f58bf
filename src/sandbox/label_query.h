#pragma once

#include <boost/json/fwd.hpp>

#include "api/label_selector.h"
#include "base/error.h"

namespace berth::sandbox {

// The LabelSelector in a document, compiled. Null selects nothing, as everywhere in the API.
base::Result<api::Selector> SelectorFrom(const boost::json::object* selector);

}  // namespace berth::sandbox
