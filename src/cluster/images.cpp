#include "cluster/images.h"

#include <algorithm>
#include <string>

namespace berth::cluster {

void ImageTable::Add(std::span<const base::SharedValue<api::ContainerImage>> images,
                     std::vector<ImageId>& ids) {
  ids.clear();
  for (const base::SharedValue<api::ContainerImage>& image : images) {
    for (const std::string& name : image->names) {
      const ImageId id = names_.Intern(name);
      if (names_.References(id) == 1) {
        if (id.index() >= size_bytes_.size()) size_bytes_.resize(id.index() + 1);
        size_bytes_[id.index()] = image->size_bytes;
      }
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  // A node that lists a name twice has the image once.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (kept > 0 && ids[kept - 1] == ids[i]) {
      names_.Release(ids[i]);
    } else {
      ids[kept++] = ids[i];
    }
  }
  ids.resize(kept);
}

void ImageTable::Remove(std::span<const ImageId> ids) {
  for (const ImageId id : ids) names_.Release(id);
}

ImageId ImageTable::Find(std::string_view name) const { return names_.Find(name); }

}  // namespace berth::cluster
