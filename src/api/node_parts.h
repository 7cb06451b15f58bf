#pragma once

#include <memory>

#include "api/node.h"

namespace berth::api {

// Gives nodes what they have in common once: nodes of one make offer the same, and run the same images. One
// per decoding thread; nodes outlive it and mix freely. Quantities may come to be spelled as those of another
// node that are equal.
class NodeParts {
 public:
  NodeParts();
  ~NodeParts();
  NodeParts(const NodeParts&) = delete;
  NodeParts& operator=(const NodeParts&) = delete;

  // The node stays equal, and takes less room.
  void Share(Node& node);

 private:
  struct Pools;
  std::unique_ptr<Pools> pools_;
};

}  // namespace berth::api
