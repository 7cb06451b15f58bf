#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/label_selector.h"
#include "sandbox/revision.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

// Which objects of a resource a list or a watch is about. Immutable.
class Selection {
 public:
  struct Request {
    std::string_view namespace_name = {};  // empty: all
    std::string_view name = {};            // of a request for one object; empty: all
    std::string_view label_selector = {};
    std::string_view field_selector = {};
  };

  // Refuses selectors that cannot be read and fields that the resource does not select by.
  static ApiResult<Selection> Make(const Resource& served, const Request& request);
  // Everything of the resource.
  explicit Selection(const Resource& served) : resource_(served.storage) {}

  const Resource& resource() const { return *resource_; }
  bool Matches(const Revision& revision) const;

  // What every match has, for indexes; empty if the selection does not fix it.
  const std::string& namespace_name() const { return namespace_name_; }
  const std::string& name() const { return name_; }
  // The value of resource().fields[0] that every match has, or null. For pods that is spec.nodeName.
  const std::string* first_field() const;
  bool narrows_by_content() const { return !labels_.matches_everything() || !fields_.empty(); }

 private:
  // One requirement on resource().fields[index].
  struct FieldTest {
    std::size_t index;
    bool equal;
    std::string value;
  };
  struct MetaTest {
    bool on_name;
    bool equal;
    std::string value;
  };

  const Resource* resource_;
  std::string namespace_name_;
  std::string name_;
  api::Selector labels_;
  std::vector<FieldTest> fields_;
  std::vector<MetaTest> metadata_;
};

}  // namespace berth::sandbox
