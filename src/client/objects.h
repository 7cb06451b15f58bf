#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "client/resource.h"

#include "api/devices.h"
#include "api/meta.h"
#include "api/node.h"
#include "api/pod_group.h"
#include "api/pod_record.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "base/error.h"

namespace berth::client {

template <class T>
using Shared = std::shared_ptr<const T>;

// An object of any watched kind, in the order of Resource. Immutable, so that threads may share it.
using Object =
    std::variant<Shared<api::PodRecord>, Shared<api::Node>, Shared<api::Namespace>, Shared<api::Service>,
                 Shared<api::ReplicationController>, Shared<api::ReplicaSet>, Shared<api::StatefulSet>,
                 Shared<api::PodDisruptionBudget>, Shared<api::PersistentVolume>,
                 Shared<api::PersistentVolumeClaim>, Shared<api::StorageClass>, Shared<api::CSINode>,
                 Shared<api::CSIDriver>, Shared<api::CSIStorageCapacity>, Shared<api::VolumeAttachment>,
                 Shared<api::ResourceClaim>, Shared<api::ResourceSlice>, Shared<api::DeviceClass>,
                 Shared<api::DeviceTaintRule>, Shared<api::PodGroup>, Shared<api::CompositePodGroup>>;
static_assert(std::variant_size_v<Object> == kResourceCount);

// What a store and a reflector look at, whatever the kind. Views of the object.
struct Identity {
  std::string_view namespace_;
  std::string_view name;
  std::string_view uid;
  std::string_view resource_version;

  // In the order of "namespace/name", which is a server's.
  static bool ComesBefore(const Identity& a, const Identity& b);
};

// `object` must not be null.
Identity IdentityOf(const Object& object);

struct ReadObject {
  bool ends_initial_events = false;  // the bookmark behind the initial state of a watch
  Object object;
};

enum class Encoding { kProtobuf, kJson };

// Decodes one kind. One per decoding thread.
class ObjectReader {
 public:
  using Sink = std::function<void(ReadObject&&)>;
  virtual ~ObjectReader() = default;

  // `bytes` is a bare message, without envelope, or JSON text.
  virtual base::Result<ReadObject> Read(Encoding encoding, std::string_view bytes) = 0;
  virtual base::Result<api::ListMeta> ReadList(Encoding encoding, std::string_view bytes,
                                               const Sink& sink) = 0;
};

// `shared` outlives the reader.
std::unique_ptr<ObjectReader> MakeObjectReader(Resource resource, api::SharedParts& shared);

}  // namespace berth::client
