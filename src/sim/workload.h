#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sandbox/control_plane.h"

namespace berth::sim {

// What users and the machines under a cluster do, drawn from a seed: pods of many kinds come and go, nodes
// come, go and change. Objects are what the API server accepts; a node of one name always has the same size,
// so that no pod is ever overtaken by a node that shrank.
class Workload {
 public:
  struct Size {
    int nodes = 6;
    int pods = 40;  // that exist at a time, at most
  };
  Workload(sandbox::ControlPlane& plane, Size size, base::Random random)
      : plane_(plane), size_(size), random_(random) {}

  // Namespaces, priority classes and the first nodes.
  void Begin();
  // Does one thing.
  void Act();
  // Takes all gates away, so that every pod may be tried.
  void OpenGates();
  void DeleteAllPods();
  std::vector<std::string> NodeNames() const;
  // Of all nodes only this one takes new pods.
  void CloseAllBut(std::string_view node);
  void OpenNode(std::string_view node);
  // A pod that asks for little and has no wishes.
  void CreatePlainPod(const std::string& app);
  // Nodes and pods as the server has them, one to a line.
  std::vector<std::string> Describe() const;

 private:
  void CreatePod();
  void DeletePod();
  void OpenGate(const sandbox::RevisionPtr& pod);
  void AddNode(int number);
  void RemoveNode();
  void ChangeNode();
  void SetClosed(const sandbox::Revision& node, bool closed);
  void CreateBudget();

  std::vector<sandbox::RevisionPtr> All(std::string_view api_version, std::string_view kind) const;
  sandbox::RevisionPtr Any(std::string_view api_version, std::string_view kind);
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_.Uniform(from.size())];
  }
  void Create(std::string_view api_version, std::string_view kind, std::string_view namespace_name,
              boost::json::object document);

  sandbox::ControlPlane& plane_;
  const Size size_;
  base::Random random_;
  int pods_made_ = 0;
  int budgets_made_ = 0;
};

}  // namespace berth::sim
