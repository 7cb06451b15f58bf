#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <set>
#include <string>

#include "sandbox/validation.h"

// What the API server checks about the containers of a pod and about what they use: volumes, claims, ports,
// amounts. `path` is where the pod's spec stands.
namespace berth::sandbox {

using NameSet = std::set<std::string, std::less<>>;

// The names of the volumes that may be mounted: those with which nothing is wrong.
NameSet CheckVolumes(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);
// The names of the pod's claims for devices.
NameSet CheckPodClaims(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);

struct ContainerContext {
  const NameSet& volumes;
  const NameSet& claims;
};
void CheckContainers(const boost::json::object& spec, const ContainerContext& context,
                     const std::string& path, FieldErrorList& errors);
void CheckHostNetwork(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);

// `resources` has limits, requests and claims; `path` is its own.
void CheckRequirements(const boost::json::object& resources, const NameSet& claims, const std::string& path,
                       FieldErrorList& errors);
// What a runtime needs beside the containers: limits without the word.
void CheckOverhead(const boost::json::object& spec, const std::string& path, FieldErrorList& errors);

}  // namespace berth::sandbox
