#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::wire {
struct Message;
}  // namespace berth::wire

namespace berth::sandbox {

// Where one selectable field of a kind is found, for field selectors other than metadata.name and
// metadata.namespace, which every kind has.
struct SelectableField {
  std::string_view label;                       // "spec.nodeName"
  std::vector<std::string_view> path;           // {"spec", "nodeName"}
  std::vector<std::string_view> fallback = {};  // read if the first is empty
  bool is_flag = false;                         // printed "true" or "false", absent is "false"
};

// A resource as it is served under one group version: what discovery says of it, and the rules by which its
// objects are written.
struct Resource {
  std::string_view group;  // "" for core
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  std::vector<std::string_view> subresources;
  bool namespaced = true;
  bool create_only = false;  // reviews and bindings: nothing is stored
  bool keeps_status_on_create = false;
  bool has_generation = false;       // metadata.generation counts changes of the spec
  bool unconditional_update = true;  // PUT without a resourceVersion is allowed
  bool delete_answers_object = false;

  std::string api_version;  // "v1", "apps/v1"
  std::string json_head;    // the text that every object begins with, up to its metadata
  std::vector<SelectableField> fields;
  const wire::Message* message = nullptr;
  const wire::Message* list_message = nullptr;
  const Resource* storage = nullptr;  // whose objects these are: itself, but for the two views of events
  std::size_t index = 0;

  std::string list_kind() const { return std::string(kind) + "List"; }
  // "leases.coordination.k8s.io", "pods"
  std::string QualifiedName() const;
  bool HasSubresource(std::string_view name) const;
  bool has_status() const { return HasSubresource("status"); }
};

// Everything that is served. Built on first use, immutable, never destroyed before the program ends.
class ResourceTable {
 public:
  static const ResourceTable& Get();

  std::span<const Resource> resources() const { return resources_; }
  // Null if nothing like that is served.
  const Resource* Find(std::string_view group, std::string_view version, std::string_view plural) const;
  const Resource* FindKind(std::string_view api_version, std::string_view kind) const;

  // The group versions in the order of discovery, core first.
  struct GroupVersion {
    std::string_view group;
    std::string_view version;
  };
  std::span<const GroupVersion> group_versions() const { return group_versions_; }

 private:
  ResourceTable();

  std::vector<Resource> resources_;
  std::vector<GroupVersion> group_versions_;
};

// A resource that must be in the table.
const Resource& ResourceOf(std::string_view api_version, std::string_view kind);

}  // namespace berth::sandbox
