#include "cluster/ports.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";

void Append(const std::vector<api::ContainerPort>& from, std::vector<HostPort>& to) {
  for (const api::ContainerPort& port : from) {
    if (port.host_port <= 0) continue;
    to.push_back({.ip = port.host_ip.empty() ? std::string(kAnyAddress) : port.host_ip,
                  .protocol = port.protocol.empty() ? "TCP" : port.protocol,
                  .port = port.host_port});
  }
}

}  // namespace

bool Conflict(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kAnyAddress || b.ip == kAnyAddress);
}

std::vector<HostPort> HostPortsOf(const api::PodSpec& spec) {
  std::vector<HostPort> ports;
  for (const api::Container& container : spec.init_containers) {
    if (container.restart_policy == "Always") Append(container.ports, ports);
  }
  for (const api::Container& container : spec.containers) Append(container.ports, ports);
  return ports;
}

std::vector<PortId> PortTable::Conflicting(std::span<const PortId> wanted) const {
  std::vector<PortId> conflicting;
  for (std::uint32_t value = 0; value < ports_.slot_count(); ++value) {
    const PortId id(value);
    if (!ports_.IsLive(id)) continue;
    for (const PortId want : wanted) {
      if (Conflict(ports_.Get(want), ports_.Get(id))) {
        conflicting.push_back(id);
        break;
      }
    }
  }
  return conflicting;
}

PortId PortTable::Intern(const HostPort& port) { return ports_.Intern(port); }

void PortTable::Release(PortId port) { ports_.Release(port); }

}  // namespace berth::cluster
