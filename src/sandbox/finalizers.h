#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

// metadata.finalizers: what has to be done before an object may go.
namespace berth::sandbox {

bool HasFinalizer(const boost::json::object& document, std::string_view name);
// True if it was there.
bool DropFinalizer(boost::json::object& document, std::string_view name);
void AddFinalizer(boost::json::object& document, std::string_view name);

}  // namespace berth::sandbox
