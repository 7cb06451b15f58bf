#pragma once

#include <boost/json/fwd.hpp>

namespace berth::sandbox {

// Events are stored once, in their core/v1 form, and served under events.k8s.io/v1 too: the same object under
// other names. Both directions take whole documents and lose nothing.
boost::json::object ToGroupedEvent(const boost::json::object& core);
boost::json::object ToCoreEvent(const boost::json::object& grouped);

}  // namespace berth::sandbox
