#include "dra/extended_names.h"

#include "api/resource_names.h"

namespace berth::dra {

bool MayBeServedByDevices(std::string_view resource) {
  return api::IsExtendedResource(resource) || resource.starts_with(kImplicitResourcePrefix);
}

void ExtendedNames::OnChange(const Class& before, const Class& after) {
  if (before &&
      (after == nullptr || after->spec.extended_resource_name != before->spec.extended_resource_name)) {
    Remove(*before);
  }
  if (after) Add(*after);
}

const std::string* ExtendedNames::Find(std::string_view resource) const {
  const auto found = class_of_.find(resource);
  return found == class_of_.end() ? nullptr : &found->second.class_name;
}

void ExtendedNames::Add(const api::DeviceClass& device_class) {
  const std::string& name = device_class.metadata.name;
  const Entry entry{name, device_class.metadata.creation_timestamp};
  if (device_class.spec.extended_resource_name) {
    const auto found = class_of_.find(*device_class.spec.extended_resource_name);
    if (found != class_of_.end() && found->second.class_name != name) {
      const Entry& other = found->second;
      const bool is_preferred =
          entry.created != other.created ? entry.created > other.created : name < other.class_name;
      if (!is_preferred) return;
    }
    class_of_.insert_or_assign(*device_class.spec.extended_resource_name, entry);
  }
  class_of_.insert_or_assign(std::string(kImplicitResourcePrefix) + name, entry);
}

void ExtendedNames::Remove(const api::DeviceClass& device_class) {
  class_of_.erase(std::string(kImplicitResourcePrefix) + device_class.metadata.name);
  // The name goes although another class may have it by now, and no other class takes it over: upstream's
  // answer to a conflict that only an administrator can resolve.
  if (device_class.spec.extended_resource_name) class_of_.erase(*device_class.spec.extended_resource_name);
}

}  // namespace berth::dra
