#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "framework/status.h"

namespace berth::cli {

// A status in words, ours and as the cases write it; the order of reasons means nothing.
std::string StatusText(const framework::Status& status);
std::string StatusText(const boost::json::object& status);

}  // namespace berth::cli
