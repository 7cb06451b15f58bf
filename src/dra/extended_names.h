#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

#include "api/devices.h"
#include "base/interner.h"

namespace berth::dra {

// The name under which pods may ask for devices of a class that gives them no other.
inline constexpr std::string_view kImplicitResourcePrefix = "deviceclass.resource.kubernetes.io/";

// Whether a class may offer a resource of that name at all.
bool MayBeServedByDevices(std::string_view resource);

// Which device class serves an extended resource.
//
// A class offers its implicit name and spec.extendedResourceName. Of two classes with one name the younger
// one has it, of two of the same age the one that comes first by name; the other one offers nothing.
class ExtendedNames {
 public:
  using Class = std::shared_ptr<const api::DeviceClass>;

  // Null before: the class came; null after: it is gone.
  void OnChange(const Class& before, const Class& after);

  // The name of the class; null: none serves the resource.
  const std::string* Find(std::string_view resource) const;
  bool empty() const { return class_of_.empty(); }

 private:
  void Add(const api::DeviceClass& device_class);
  void Remove(const api::DeviceClass& device_class);

  struct Entry {
    std::string class_name;
    api::Time created;
  };
  absl::flat_hash_map<std::string, Entry, base::TextHash, std::equal_to<>> class_of_;  // by resource
};

}  // namespace berth::dra
