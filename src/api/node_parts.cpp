#include "api/node_parts.h"

#include <string>
#include <vector>

#include "api/shared_value_pool.h"

namespace berth::api {
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
