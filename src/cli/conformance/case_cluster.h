#pragma once

#include <boost/json/fwd.hpp>

#include "api/pod_record.h"
#include "cluster/cluster.h"

namespace berth::cli {

// Gives the object to the cluster as a scheduler's watches would. Kinds that the cluster does not keep are
// passed over; finished pods too.
void LoadObject(const boost::json::object& object, api::SharedParts& shared, cluster::Cluster& cluster);
void LoadObjects(const boost::json::array& objects, api::SharedParts& shared, cluster::Cluster& cluster);

cluster::PodRecordRef RecordOf(const boost::json::value& pod, api::SharedParts& shared);

}  // namespace berth::cli
