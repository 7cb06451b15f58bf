#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

using PortId = base::Id<struct PortTag>;

// A port of the node that a pod takes for itself.
struct HostPort {
  std::string ip;        // "0.0.0.0" when the pod names none
  std::string protocol;  // "TCP" when the pod names none
  std::int32_t port = 0;

  bool operator==(const HostPort&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const HostPort& p) {
    return H::combine(std::move(h), p.ip, p.protocol, p.port);
  }
};

// True if two pods with these ports cannot share a node: the same protocol and port, and the same address or
// one of them takes every address. Addresses are compared as text; "::" is no wildcard.
bool Conflict(const HostPort& a, const HostPort& b);

// In the order of the spec: sidecars, then containers. Ordinary init containers are gone before the pod
// serves.
std::vector<HostPort> HostPortsOf(const api::PodSpec& spec);

// The distinct host ports of pods.
class PortTable {
 public:
  PortId Intern(const HostPort& port);
  void Release(PortId port);

  const HostPort& Get(PortId port) const { return ports_.Get(port); }
  // The ports in use by some pod that `wanted` conflicts with, ascending. O(distinct ports).
  std::vector<PortId> Conflicting(std::span<const PortId> wanted) const;

  bool empty() const { return ports_.empty(); }

 private:
  base::InternTable<PortId, HostPort> ports_;
};

// How often a node's pods hold a port: two pods that were bound in spite of a conflict hold it twice.
struct PortUse {
  PortId port;
  std::uint32_t count = 0;

  bool operator==(const PortUse&) const = default;
};

}  // namespace berth::cluster
