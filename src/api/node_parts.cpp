#include "api/node_parts.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "api/structural_hash.h"
#include "base/shared_pool.h"

namespace berth::api {
namespace {

template <class T>
class SharedValuePool {
 public:
  void Share(base::SharedValue<T>& value) {
    if (*value == T()) {
      value = {};
    } else {
      value = pool_.Intern(Hashed{value, StructuralHash(*value)}).value;
    }
  }

 private:
  struct Hashed {
    base::SharedValue<T> value;
    std::size_t hash;

    bool IsUnshared() const { return value.IsUnshared(); }
    bool operator==(const Hashed&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Hashed& hashed) const { return hashed.hash; }
  };

  base::SharedPool<Hashed, Hash, std::equal_to<>> pool_;
};

}  // namespace

struct NodeParts::Pools {
  SharedValuePool<ResourceList> resources;
  SharedValuePool<std::vector<NodeCondition>> conditions;
  SharedValuePool<ContainerImage> images;
  SharedValuePool<std::vector<std::string>> names;
};

NodeParts::NodeParts() : pools_(std::make_unique<Pools>()) {}
NodeParts::~NodeParts() = default;

void NodeParts::Share(Node& node) {
  node.metadata.labels.shrink_to_fit();
  node.metadata.annotations.shrink_to_fit();
  NodeStatus& status = node.status;
  pools_->resources.Share(status.allocatable);
  pools_->conditions.Share(status.conditions);
  pools_->names.Share(status.declared_features);
  for (base::SharedValue<ContainerImage>& image : status.images) pools_->images.Share(image);
  status.images.shrink_to_fit();
}

}  // namespace berth::api
