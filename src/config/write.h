#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "config/configuration.h"

namespace berth::config {

// The configuration as an object of the file format, with apiVersion and kind; arguments carry theirs.
boost::json::object ToDocument(const Configuration& configuration);

// The same as a file. Loading it gives an equal configuration.
std::string WriteYaml(const Configuration& configuration);

}  // namespace berth::config
