#include "client/objects.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "api/list.h"
#include "api/node_parts.h"
#include "wire/codec.h"
#include "wire/pod_reader.h"

namespace berth::client {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

template <class Annotations>
bool EndsInitialEvents(const Annotations& annotations) {
  const auto value = annotations.find(kInitialEventsEnd);
  return value && *value == "true";
}

template <class T>
ReadObject Wrap(T&& object) {
  const bool ends_initial_events = EndsInitialEvents(object.metadata.annotations);
  return {.ends_initial_events = ends_initial_events,
          .object = std::make_shared<const T>(std::forward<T>(object))};
}

ReadObject WrapPod(api::PodRecord&& pod) {
  const bool ends_initial_events = EndsInitialEvents(pod.annotations);
  return {.ends_initial_events = ends_initial_events,
          .object = std::make_shared<const api::PodRecord>(std::move(pod))};
}

template <class T>
class TypedReader final : public ObjectReader {
 public:
  explicit TypedReader(api::SharedParts&) {}

  base::Result<ReadObject> Read(Encoding encoding, std::string_view bytes) override {
    auto object = Decode<T>(encoding, bytes);
    if (!object) return std::unexpected(std::move(object.error()));
    return Finish(std::move(*object));
  }
  base::Result<api::ListMeta> ReadList(Encoding encoding, std::string_view bytes, const Sink& sink) override {
    auto list = Decode<api::List<T>>(encoding, bytes);
    if (!list) return std::unexpected(std::move(list.error()));
    for (T& item : list->items) sink(Finish(std::move(item)));
    return std::move(list->metadata);
  }

 private:
  template <class U>
  static base::Result<U> Decode(Encoding encoding, std::string_view bytes) {
    return encoding == Encoding::kProtobuf ? wire::DecodeProtobuf<U>(bytes) : wire::DecodeJson<U>(bytes);
  }
  ReadObject Finish(T&& object) {
    if constexpr (std::is_same_v<T, api::Node>) parts_.Share(object);
    return Wrap<T>(std::move(object));
  }

  struct Nothing {};
  [[no_unique_address]] std::conditional_t<std::is_same_v<T, api::Node>, api::NodeParts, Nothing> parts_;
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

bool Identity::ComesBefore(const Identity& a, const Identity& b) {
  if (a.namespace_ == b.namespace_) return a.name < b.name;
  // A namespace that another one begins with is followed by a slash, which is not the smallest character.
  const std::size_t common = std::min(a.namespace_.size(), b.namespace_.size());
  if (const int order = a.namespace_.substr(0, common).compare(b.namespace_.substr(0, common)); order != 0) {
    return order < 0;
  }
  return a.namespace_.size() == common ? '/' < b.namespace_[common] : a.namespace_[common] < '/';
}

Identity IdentityOf(const Object& object) {
  return std::visit(
      []<class T>(const Shared<T>& held) -> Identity {
        if constexpr (std::is_same_v<T, api::PodRecord>) {
          return {held->namespace_, held->name, held->uid, held->resource_version};
        } else {
          const api::ObjectMeta& meta = held->metadata;
          return {meta.namespace_, meta.name, meta.uid, meta.resource_version};
        }
      },
      object);
}

std::unique_ptr<ObjectReader> MakeObjectReader(Resource resource, api::SharedParts& shared) {
  static constexpr auto kMakers = Makers(std::make_index_sequence<kResourceCount>());
  return kMakers[static_cast<std::size_t>(resource)](shared);
}

}  // namespace berth::client
