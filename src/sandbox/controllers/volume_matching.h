#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

// Pure rules about claims and volumes.
namespace berth::sandbox {

inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";

// The volume could serve the claim: class, modes, size, labels.
bool CanServe(const boost::json::object& volume, const boost::json::object& claim);
// a holds less than b.
bool IsSmaller(const boost::json::object& a, const boost::json::object& b);

// The volume is meant for this claim. One that names no uid takes whichever claim has the name.
bool PointsAt(const boost::json::object& volume, const boost::json::object& claim);

struct ProvisionWish {
  const boost::json::object& claim;
  const boost::json::object& storage_class;
  const boost::json::object* node = nullptr;  // the one the scheduler chose; null: anywhere
};
// A volume as a provisioner makes it.
boost::json::object MakeVolume(const ProvisionWish& wish);

void SetClaimRef(boost::json::object& volume, const boost::json::object& claim);

}  // namespace berth::sandbox
