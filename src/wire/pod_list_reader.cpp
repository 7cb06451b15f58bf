#include <optional>
#include <string>
#include <utility>

#include "wire/bindings/pod.h"
#include "wire/pod_reader.h"
#include "wire/proto_reader.h"
#include "wire/typed_codec.h"

namespace berth::wire {
namespace {

// Stands in the place of a list: each pod becomes a record as soon as the next one begins.
struct PodStream {
  struct Items {
    std::optional<api::Pod> pod;
    const PodReader::Sink* sink = nullptr;
    api::SharedParts* shared = nullptr;

    void Flush() {
      if (pod) (*sink)(api::MakeRecord(*std::move(pod), *shared));
      pod.reset();
    }
  };
  api::ListMeta metadata;
  Items items;
};

}  // namespace

template <>
struct MemberTypeOf<PodStream::Items> {
  static constexpr MemberType kType = [] {
    MemberType type = ElementOnly<api::Pod>(Holder::kList);
    type.slot = [](void* member, std::string_view) -> void* {
      auto& items = *static_cast<PodStream::Items*>(member);
      items.Flush();
      return &items.pod.emplace();
    };
    type.clear = [](void*) {};  // records that were handed over stay
    return type;
  }();
};

template <>
struct Binding<PodStream> {
  static constexpr std::string_view kMessage = "core.v1.PodList";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &PodStream::metadata}, Bound{"items", &PodStream::items}};
};

base::Result<api::ListMeta> PodReader::ReadList(std::string_view bytes, const Sink& sink) {
  // Every list of the API has its metadata as field 1 and its items as field 2.
  api::ListMeta metadata;
  ProtoReader reader(bytes);
  ProtoField in;
  std::size_t index = 0;
  while (reader.Next(in)) {
    if (in.number > 2) continue;
    if (in.wire != WireType::kBytes) return base::Fail("a list with a field of the wrong wire type");
    if (in.number == 1) {
      auto decoded = DecodeProtobuf<api::ListMeta>(in.bytes);
      if (!decoded) return base::Fail("metadata: " + decoded.error().message);
      metadata = *std::move(decoded);
      continue;
    }
    auto item = Read(in.bytes);
    if (!item) return base::Fail("items[" + std::to_string(index) + "]: " + item.error().message);
    sink(*std::move(item));
    ++index;
  }
  if (!reader.ok()) return base::Fail(std::string(reader.error()));
  return metadata;
}

base::Result<api::ListMeta> PodReader::ReadJsonList(std::string_view text, const Sink& sink) {
  PodStream list;
  list.items.sink = &sink;
  list.items.shared = &shared_;
  auto error = DecodeJsonInto(&list, TableOf<PodStream>(), text, Strictness::kLenient);
  if (error) return std::unexpected(*std::move(error));
  list.items.Flush();
  return std::move(list.metadata);
}

}  // namespace berth::wire
