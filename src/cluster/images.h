#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "base/interner.h"
#include "cluster/ids.h"

namespace berth::cluster {

// Container images that nodes have: how large each is and on how many nodes it is. Names are as the nodes
// report them.
//
// The size is what the first node said, until no node has the image any more.
class ImageTable {
 public:
  // Fills `ids` with the images that a node has, ascending, each once; one use of each is counted.
  void Add(std::span<const base::SharedValue<api::ContainerImage>> images, std::vector<ImageId>& ids);
  // Takes back what Add counted.
  void Remove(std::span<const ImageId> ids);

  // Invalid: no node has it.
  ImageId Find(std::string_view name) const;
  std::string_view Name(ImageId image) const { return names_.Get(image); }
  std::int64_t SizeBytes(ImageId image) const { return size_bytes_[image.index()]; }
  std::size_t NodeCount(ImageId image) const { return names_.References(image); }

  std::size_t size() const { return names_.size(); }
  bool empty() const { return names_.empty(); }

 private:
  base::Interner<ImageId> names_;  // one reference per node
  std::vector<std::int64_t> size_bytes_;
};

}  // namespace berth::cluster
