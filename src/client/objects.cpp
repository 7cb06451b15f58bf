#include "client/objects.h"

#include <array>
#include <utility>

#include "api/list.h"
#include "wire/codec.h"
#include "wire/pod_reader.h"

namespace berth::client {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string KeyOf(const std::string& namespace_, const std::string& name) {
  return namespace_.empty() ? name : namespace_ + "/" + name;
}

bool EndsInitialEvents(const api::StringMap& annotations) {
  const std::string* value = annotations.find(kInitialEventsEnd);
  return value != nullptr && *value == "true";
}

template <class T>
ReadObject Wrap(T&& object) {
  const api::ObjectMeta& meta = object.metadata;
  ReadObject read{.key = KeyOf(meta.namespace_, meta.name),
                  .uid = meta.uid,
                  .resource_version = meta.resource_version,
                  .ends_initial_events = EndsInitialEvents(meta.annotations),
                  .object = {}};
  read.object = std::make_shared<const T>(std::forward<T>(object));
  return read;
}

ReadObject WrapPod(api::PodRecord&& pod) {
  ReadObject read{.key = KeyOf(pod.namespace_, pod.name),
                  .uid = pod.uid,
                  .resource_version = pod.resource_version,
                  .ends_initial_events = pod.annotations && EndsInitialEvents(*pod.annotations),
                  .object = {}};
  read.object = std::make_shared<const api::PodRecord>(std::move(pod));
  return read;
}

template <class T>
class TypedReader final : public ObjectReader {
 public:
  explicit TypedReader(api::SharedParts&) {}

  base::Result<ReadObject> Read(Encoding encoding, std::string_view bytes) override {
    auto object = Decode<T>(encoding, bytes);
    if (!object) return std::unexpected(std::move(object.error()));
    return Wrap<T>(std::move(*object));
  }
  base::Result<api::ListMeta> ReadList(Encoding encoding, std::string_view bytes, const Sink& sink) override {
    auto list = Decode<api::List<T>>(encoding, bytes);
    if (!list) return std::unexpected(std::move(list.error()));
    for (T& item : list->items) sink(Wrap<T>(std::move(item)));
    return std::move(list->metadata);
  }

 private:
  template <class U>
  static base::Result<U> Decode(Encoding encoding, std::string_view bytes) {
    return encoding == Encoding::kProtobuf ? wire::DecodeProtobuf<U>(bytes) : wire::DecodeJson<U>(bytes);
  }
};

template <>
class TypedReader<api::PodRecord> final : public ObjectReader {
 public:
  explicit TypedReader(api::SharedParts& shared) : reader_(shared) {}

  base::Result<ReadObject> Read(Encoding encoding, std::string_view bytes) override {
    auto pod = encoding == Encoding::kProtobuf ? reader_.Read(bytes) : reader_.ReadJson(bytes);
    if (!pod) return std::unexpected(std::move(pod.error()));
    return WrapPod(std::move(*pod));
  }
  base::Result<api::ListMeta> ReadList(Encoding encoding, std::string_view bytes, const Sink& sink) override {
    const auto on_pod = [&](api::PodRecord&& pod) { sink(WrapPod(std::move(pod))); };
    return encoding == Encoding::kProtobuf ? reader_.ReadList(bytes, on_pod)
                                           : reader_.ReadJsonList(bytes, on_pod);
  }

 private:
  wire::PodReader reader_;
};

template <std::size_t kIndex>
std::unique_ptr<ObjectReader> Make(api::SharedParts& shared) {
  using Pointer = std::variant_alternative_t<kIndex, Object>;
  return std::make_unique<TypedReader<std::remove_const_t<typename Pointer::element_type>>>(shared);
}

using Maker = std::unique_ptr<ObjectReader> (*)(api::SharedParts&);

template <std::size_t... kIndices>
constexpr std::array<Maker, kResourceCount> Makers(std::index_sequence<kIndices...>) {
  return {&Make<kIndices>...};
}

}  // namespace

std::unique_ptr<ObjectReader> MakeObjectReader(Resource resource, api::SharedParts& shared) {
  static constexpr auto kMakers = Makers(std::make_index_sequence<kResourceCount>());
  return kMakers[static_cast<std::size_t>(resource)](shared);
}

}  // namespace berth::client
