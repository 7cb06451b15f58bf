#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/control_plane.h"

// What the parts of a simulated world do with objects on the server.
namespace berth::sim {

class WorldObjects {
 public:
  explicit WorldObjects(sandbox::ControlPlane& plane) : plane_(plane) {}

  // An object that the server must accept: anything else is a mistake of the simulation.
  void Create(std::string_view api_version, std::string_view kind, boost::json::object document);
  std::vector<sandbox::RevisionPtr> All(std::string_view api_version, std::string_view kind) const;
  // Nothing happens if it has changed or gone meanwhile.
  void Change(const sandbox::Revision& object, const std::function<void(boost::json::object&)>& change);
  void Delete(const sandbox::Revision& object, bool at_once = true);

  const base::Clock& clock() const { return plane_.clock(); }

 private:
  sandbox::ControlPlane& plane_;
};

// {"name": name}, in the namespace "default" if the kind has namespaces.
boost::json::object Named(std::string name);

// A pod with a container that asks for little.
boost::json::object SmallPod(std::string name, std::string_view app);

// The text at a path of objects, or nothing.
std::string TextIn(const boost::json::object& document, std::initializer_list<std::string_view> path);

// It has a node and has not ended.
bool IsOnNode(const boost::json::object& pod);

}  // namespace berth::sim
